// Addresses and views of the report: #e/ID/TRIAL/TURN/STEP is an episode, anything else the list.

const FILTERS = ["category", "outcome", "cause", "tag", "q", "sort"];
let runs = [];
// What else there is of an episode where the page is served: served_report.js.
let besides = () => null;
let place = {};
let episode = null;
const lists = new Map();

/** Return the place that an address names. */
function placeOf(hash) {
  const [path, query] = hash.replace(/^#/, "").split("?");
  const given = new URLSearchParams(query || "");
  const [kind, id, trial, turn, step] = path.split("/").map(decoded);
  const number = (text) => (/^\d{1,6}$/.test(text || "") ? Number(text) : null);
  const run = Math.min(Math.max(number(given.get("run")) || 1, 1), runs.length) - 1;
  return {
    run,
    filters: Object.fromEntries(FILTERS.map((name) => [name, given.get(name) || ""])),
    id: kind === "e" && id ? id : null,
    trial: number(trial) || 0,
    turn: number(turn),
    step: number(step),
  };
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return "";
  }
}

// Half of a surrogate pair has no place in an address.
function encoded(part) {
  return encodeURIComponent(String(part).toWellFormed());
}

function isAt(row, { id, trial }) {
  return row.trial === trial && row.id.toWellFormed() === id;
}

/** Return the address of a place that differs from the present one as told. */
function address(change) {
  const next = { ...place, ...change, filters: { ...place.filters, ...(change.filters || {}) } };
  const query = new URLSearchParams(
    FILTERS.filter((name) => next.filters[name]).map((name) => [name, next.filters[name]]),
  );
  if (next.run) query.set("run", next.run + 1);
  const parts =
    next.id === null
      ? []
      : ["e", next.id, next.trial, next.turn, next.turn === null ? null : next.step];
  const path = parts
    .filter((part) => part !== null)
    .map(encoded)
    .join("/");
  return `#${path}${query.size ? `?${query}` : ""}`;
}

/** Go to a place; in its stead, so that the way back is short, or as a step of the history. */
function go(change, { replace = false } = {}) {
  const hash = address(change);
  if (replace) history.replaceState(null, "", hash);
  else history.pushState(null, "", hash);
  return arrive();
}

const OVERVIEW = { id: null, turn: null, step: null };

/** Show the place that the address names. */
async function arrive() {
  const before = place;
  place = placeOf(location.hash);
  const isElsewhere = ["run", "id", "trial"].some((part) => place[part] !== before[part]);
  if (isElsewhere && before.id === null) listOf(before.run).leave();
  showTabs();
  if (place.id === null) showList(before, isElsewhere);
  else await showEpisode(isElsewhere);
}

function listOf(run) {
  if (!lists.has(run)) lists.set(run, listView(runs[run]));
  return lists.get(run);
}

function showList(before, isElsewhere) {
  const list = listOf(place.run);
  episode = null;
  document.title = `Turnwise: ${runs[place.run].name}`;
  if (isElsewhere) main.replaceChildren(list.node);
  list.update(place.filters);
  if (isElsewhere) list.enter(before);
}

async function showEpisode(isElsewhere) {
  const wanted = place;
  if (isElsewhere) episode = null;
  if (!episode) {
    const run = runs[place.run];
    const number = run.rows.findIndex((row) => isAt(row, wanted));
    const made = number < 0 ? nothingThere() : await episodeView(run, number);
    // Something else may have been asked for meanwhile.
    if (place !== wanted) return;
    episode = made;
    document.title = `${place.id} – ${run.name}`;
    main.replaceChildren(episode.node);
    besides(episode.node);
    window.scrollTo(0, 0);
  }
  episode.show(place.turn, place.step);
}

function nothingThere() {
  const text = `This run has no episode ${place.id}, trial ${place.trial}. `;
  const back = el("a", { href: address(OVERVIEW) }, "All episodes");
  const still = () => undefined;
  const node = el("p.problem", text, back);
  return { node, show: still, move: still, moveOff: still, toggleAll: still };
}

function showTabs() {
  const tabs = runs.map((run, number) =>
    el(
      "a",
      {
        href: number === place.run ? address({}) : `#${number ? `?run=${number + 1}` : ""}`,
        "aria-current": number === place.run ? "page" : null,
      },
      run.name,
    ),
  );
  document
    .getElementById("heading")
    .replaceChildren(
      runs.length > 1 ? el("nav", { "aria-label": "Runs" }, tabs) : el("span.run", runs[0].name),
    );
}

/** Go to the next episode of those that the filters leave. */
function neighbour(by) {
  const other = listOf(place.run).neighbour(place, by);
  if (other) go(placeIn(other));
  else say("No more episodes.");
}

function search() {
  if (place.id !== null) go(OVERVIEW);
  document.getElementById("search").focus();
}

function leave(event) {
  if (place.id !== null) return go(OVERVIEW);
  event.target.blur();
  // Also what was typed just now and is not yet searched for.
  document.getElementById("search").value = "";
  return go({ filters: { q: "" } }, { replace: true });
}

open(async (index) => {
  runs = index;
  window.addEventListener("hashchange", arrive);
  const inView = () => (place.id === null ? listOf(place.run) : episode);
  onKey("/", "search", search);
  onKey("j", "next episode in the list, or next step", () => inView()?.move(1));
  onKey("k", "previous episode in the list, or previous step", () => inView()?.move(-1));
  onKey("Enter", "open the episode", () => false);
  onKey("n", "next difference from the ground truth", () => episode?.moveOff(1));
  onKey("p", "previous difference from the ground truth", () => episode?.moveOff(-1));
  onKey("]", "next episode", () => episode && neighbour(1));
  onKey("[", "previous episode", () => episode && neighbour(-1));
  onKey("e", "open or close everything", () => episode?.toggleAll());
  onKey("Esc", "back to the list, or clear the search", leave);
  await arrive();
});
