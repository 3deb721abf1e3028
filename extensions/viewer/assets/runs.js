// The runs of a folder: filtered, sorted, chosen for a comparison, and live where they are served.

const RUN_BATCH = 200;
const RUN_CHOICES = ["model", "data", "profile", "state", "tag"];
const RUN_FILTERS = ["q", ...RUN_CHOICES, "sort"];
const STATES = {
  running: ["here", "● running"],
  finished: ["passed", "✓ finished"],
  unfinished: ["error", "! unfinished"],
  damaged: ["failed", "✗ damaged"],
  unknown: ["", "? unknown"],
  recorded: ["", "recorded"],
};
const isServed = typeof ROOT !== "undefined";
const RUN_COLUMNS = [
  { name: "name", label: "Run", value: (run) => run.name, cell: nameCell },
  { name: "model", label: "Model", value: (run) => run.model || "~", cell: (run) => run.model || "–" },
  {
    name: "data",
    label: "Data",
    value: dataOf,
    cell: (run) => (run.dataset ? [run.dataset.name, el("small", ` ${run.dataset.version}`)] : "–"),
  },
  { name: "profile", label: "Profile", value: (run) => run.profile || "~", cell: (run) => run.profile },
  {
    name: "score",
    label: "Score",
    number: true,
    value: (run) => run.score ?? -1,
    cell: (run) => rateCell(run.score, run.interval, partOf(run)),
  },
  {
    name: "mended",
    label: "Corrected",
    number: true,
    there: (found) => found.errata !== "none",
    value: (run) => (run.mended && run.mended.score) ?? -1,
    cell: (run) => (run.mended ? rateCell(run.mended.score, run.mended.interval) : "–"),
  },
  {
    name: "told",
    label: "Facts reported",
    number: true,
    value: (run) => toldOf(run) ?? -1,
    cell: (run) => reckoned(run, () => percent(toldOf(run))),
  },
  {
    name: "cost",
    label: "Cost",
    number: true,
    value: (run) => (run.took && run.took.cost) ?? -1,
    cell: (run) =>
      reckoned(run, () => (run.took && run.took.cost !== null ? `$${run.took.cost.toFixed(4)}` : "–")),
  },
  {
    name: "latency",
    label: "Latency",
    number: true,
    value: (run) => (run.took && run.took.p50) ?? -1,
    cell: (run) =>
      reckoned(run, () => (run.took && run.took.p50 !== null ? spanOf(run.took.p50) : "–")),
  },
  {
    name: "done",
    label: "Done",
    number: true,
    value: (run) => run.done,
    cell: (run) => [
      `${run.done.toLocaleString("en")} of ${run.planned === null ? "?" : run.planned.toLocaleString("en")}`,
      run.errors > 0 && el("small.problems", plural(run.errors, "error")),
      run.planned > 0 &&
        el("span.meter", { vars: { share: Math.min(1, run.done / run.planned) } }),
    ],
  },
  { name: "state", label: "Status", value: (run) => run.state, cell: stateCell },
  { name: "history", label: "History", value: (run) => run.history.length, cell: historyCell },
];

let folder = null;
const runsByName = new Map();
const chosen = new Set();

function dataOf(run) {
  return run.dataset ? `${run.dataset.name} ${run.dataset.version}` : "";
}

function toldOf(run) {
  const told = run.took && run.took.told;
  return (told && told["facts told"]) ?? null;
}

function spanOf(value) {
  return value < 0.1 ? `${Math.round(1000 * value)} ms` : `${value.toFixed(value < 10 ? 2 : 1)} s`;
}

/** Return a figure that is reckoned after the run is listed, or that it is not there yet. */
function reckoned(run, shown) {
  if (run.took || run.reckoned) return shown();
  return el("span.quiet", { title: "being computed" }, "…");
}

function nameCell(run) {
  const name = isServed && run.state !== "damaged" ? el("a", { href: runPath(run.name) }, run.name) : run.name;
  return el(
    "div.run-cell",
    isServed &&
      run.state !== "damaged" &&
      el("label.choose", el("input", {
        type: "checkbox",
        "aria-label": `Choose ${run.name} for a comparison`,
        change: (event) => choose(run.name, event.target.checked),
      })),
    el("span.run-name", name, run.created && el("small", run.created.replace("T", " "))),
    tagsOf(run),
    run.problem && el("small.problems", run.problem),
  );
}

/** Return how much of an unfinished run its score covers. */
function partOf(run) {
  return run.unfinished && `of ${run.done} of ${run.planned} episodes`;
}

function rateCell(score, bounds, part) {
  if (score === null) return "–";
  const [low, high] = bounds;
  return [
    percent(score),
    el("small", interval(bounds)),
    part && el("small.problems", part),
    el("span.track", { role: "presentation", vars: { low, high, rate: score } }),
  ];
}

function stateCell(run) {
  const [look, label] = STATES[run.state] || ["", run.state];
  const resume = run.resume && run.resume.map(quoted).join(" ");
  return [
    el("span", { class: `badge ${look}` }, label),
    resume &&
      isServed &&
      el(
        "button.resume",
        { type: "button", title: resume, click: () => copyText(resume, `Copied: ${resume}`) },
        "Copy resume",
      ),
  ];
}

function quoted(word) {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`;
}

const SVG = "http://www.w3.org/2000/svg";

/** Return the scores of the runs of one history as a line, this run's as a dot. */
function historyCell(run) {
  const scores = run.history;
  if (scores.length < 2) return null;
  const at = scores.findIndex(([name]) => name === run.name);
  const [wide, high] = [72, 20];
  const x = (index) => 3 + (index * (wide - 6)) / (scores.length - 1);
  const y = (score) => high - 3 - score * (high - 6);
  const line = drawn("polyline", {
    points: scores.map(([, score], index) => `${x(index).toFixed(1)},${y(score).toFixed(1)}`).join(" "),
  });
  const dot = drawn("circle", { cx: x(at), cy: y(scores[at][1]), r: 2.5 });
  const said = `${plural(scores.length, "run")} of this model on this data: ${scores
    .slice(-8)
    .map(([, score]) => percent(score))
    .join(", ")}; this one ${percent(scores[at][1])}`;
  const svg = drawn("svg", { viewBox: `0 0 ${wide} ${high}`, width: wide, height: high, role: "img", "aria-label": said }, line, dot);
  const title = drawn("title", {});
  title.textContent = said;
  svg.prepend(title);
  return svg;
}

function drawn(tag, attributes, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

/** Give every run the scores of those that share its history, the earliest first. */
function findHistories() {
  const series = new Map();
  for (const run of runsByName.values()) {
    run.history = [];
    if (run.series === null || run.score === null) continue;
    if (!series.has(run.series)) series.set(run.series, []);
    series.get(run.series).push(run);
  }
  for (const runs of series.values()) {
    runs.sort((one, other) => (one.created < other.created ? -1 : 1));
    const scores = runs.map((run) => [run.name, run.score]);
    for (const run of runs) run.history = scores;
  }
}

// The table

let runView = null;

function runsView() {
  const columns = RUN_COLUMNS.filter((column) => !column.there || column.there(folder));
  const nothing = Object.fromEntries(["q", ...RUN_CHOICES].map((name) => [name, ""]));
  let filters = filtersOf(location.hash);
  let left = [];
  let shown = RUN_BATCH;
  const lines = new Map();

  const narrow = (change) => {
    filters = { ...filters, ...change };
    const query = new URLSearchParams(
      RUN_FILTERS.filter((name) => filters[name]).map((name) => [name, filters[name]]),
    );
    history.replaceState(null, "", query.size ? `#?${query}` : location.pathname);
    shown = RUN_BATCH;
    render();
  };
  const label = "Filter runs by name, model or data";
  const search = el("input", {
    id: "search",
    type: "search",
    placeholder: label,
    "aria-label": label,
    autocomplete: "off",
    spellcheck: "false",
    value: filters.q,
    input: debounced(() => narrow({ q: search.value })),
  });
  const choosers = RUN_CHOICES.map((name) => {
    const select = el("select", { change: () => narrow({ [name]: select.value }) });
    return el("label", { "data-name": name }, el("span", words(name === "state" ? "status" : name)), select);
  });
  const clear = el("button.clear", { type: "button", click: () => narrow(nothing) }, "Clear");
  const count = el("p.count.quiet", { role: "status" });
  const head = el(
    "tr",
    columns.map((column) => headOf(column, (name) => narrow({ sort: nextSort(filters.sort, name) }))),
  );
  const body = el("tbody");
  const more = el("button.more-runs", { type: "button", click: () => grow() });
  const compare = isServed ? el("a.tool.compare", { href: ROOT }, "Compare") : null;
  const chat = isServed && el("a.tool", { href: pathTo("chat") }, "Chat");
  const empty = el("p.quiet.empty");
  const trend = el("div.trends");
  const node = el(
    "section.runs",
    { "aria-labelledby": "runs-title" },
    el("h1", { id: "runs-title" }, "Runs ", el("small", folder.folder)),
    el("div.filters", { role: "search" }, search, choosers, clear, compare, chat, count),
    scrolling("Table of runs", el("table.episodes.of-runs", el("thead", head), body)),
    empty,
    more,
    trend,
  );
  const watched = new IntersectionObserver(([entry]) => entry.isIntersecting && grow(), {
    rootMargin: "600px",
  });
  watched.observe(more);
  window.addEventListener("beforeprint", () => grow(Infinity));

  function grow(by = RUN_BATCH) {
    if (shown >= left.length) return;
    shown += by;
    render();
  }

  function isWanted(run) {
    const query = filters.q.trim().toLowerCase().split(/\s+/);
    const text = `${run.tags.join("\n")}\n${run.note}\n${run.name}\n${run.model || ""}\n${dataOf(run)}\n${run.profile || ""}\n${run.state}`.toLowerCase();
    return (
      RUN_CHOICES.every((name) => !filters[name] || runValues(run, name).includes(filters[name])) &&
      query.every((word) => text.includes(word))
    );
  }

  function render() {
    const column = columns.find(({ name }) => name === filters.sort.replace("-", ""));
    const by = column || { value: (run) => run.created };
    const sign = column && !filters.sort.startsWith("-") ? 1 : -1;
    left = [...runsByName.values()].filter(isWanted).sort((one, other) => sign * order(by.value(one), by.value(other)));
    const nodes = left.slice(0, shown).map((run) => lineFor(run));
    const held = focusIn(body);
    if (nodes.length !== body.rows.length || nodes.some((line, index) => line !== body.rows[index])) {
      body.replaceChildren(...nodes);
      giveBack(held);
    }
    showFilters();
    trend.replaceChildren(...[trendCard(left)].filter(Boolean));
  }

  /** Return the line of a run, made anew only where something in it has changed. */
  function lineFor(run) {
    const key = JSON.stringify([run.version, run.history.length, run.history[0]]);
    const known = lines.get(run.name);
    if (known && known.key === key) return known.line;
    const line = el(
      "tr",
      { class: run.state, "data-run": run.name },
      columns.map((column) =>
        el(
          "td",
          { class: `col-${column.name}${column.number ? " number" : ""}`, "data-label": column.label },
          column.cell(run),
        ),
      ),
    );
    const box = line.querySelector("input");
    if (box) box.checked = chosen.has(run.name);
    lines.set(run.name, { key, line });
    return line;
  }

  function focusIn(node) {
    const at = document.activeElement;
    const line = at && node.contains(at) && at.closest("tr");
    return line ? { name: line.dataset.run, tag: at.tagName } : null;
  }

  function giveBack(held) {
    if (!held || !lines.has(held.name)) return;
    const again = lines.get(held.name).line.querySelector(held.tag);
    if (again) again.focus({ preventScroll: true });
  }

  function showFilters() {
    for (const label of choosers) fillChooser(label, filters[label.dataset.name]);
    if (document.activeElement !== search) search.value = filters.q;
    clear.hidden = Object.keys(nothing).every((name) => !filters[name]);
    const [all, some] = [runsByName.size, left.length].map((number) => number.toLocaleString("en"));
    count.textContent = `${some} of ${all}${folder.complete ? "" : ", still scanning …"}`;
    more.hidden = shown >= left.length;
    more.textContent = `${(left.length - shown).toLocaleString("en")} more`;
    empty.textContent = emptyText();
    for (const cell of head.children) markSorted(cell, filters.sort);
    showChosen();
  }

  function emptyText() {
    if (left.length > 0) return "";
    if (runsByName.size > 0) return "No matching runs.";
    return folder.complete ? "No runs in this folder yet." : "";
  }

  function showChosen() {
    if (!compare) return;
    const names = [...chosen].filter((name) => runsByName.has(name));
    compare.hidden = names.length < 2;
    compare.textContent = `Compare ${names.length} runs`;
    compare.setAttribute("href", pathTo("compare", names.map((name) => ["run", name])));
  }

  return {
    node,
    render,
    showChosen,
    compare: () => compare && !compare.hidden && compare.click(),
    search: () => search.focus(),
    leave() {
      search.value = "";
      search.blur();
      narrow(nothing);
    },
    move(by) {
      const rows = [...body.rows];
      const now = rows.indexOf(document.activeElement.closest("tr"));
      const next = rows[Math.min(Math.max(now + by, 0), rows.length - 1)];
      const link = next && next.querySelector("a");
      if (link) link.focus();
      if (next) next.scrollIntoView({ block: "nearest" });
    },
    toggle() {
      const line = document.activeElement.closest("tr");
      const box = line && line.querySelector("input");
      if (box) box.click();
    },
  };
}

function filtersOf(hash) {
  const given = new URLSearchParams(hash.replace(/^#\??/, ""));
  return Object.fromEntries(RUN_FILTERS.map((name) => [name, given.get(name) || ""]));
}

function runValues(run, name) {
  return name === "data" ? [dataOf(run)].filter(Boolean) : valuesOf(run, name);
}

const byNumber = new Intl.Collator("en", { numeric: true }).compare;

function order(one, other) {
  return typeof one === "string" ? byNumber(one, other) : one - other;
}

/** Put into a chooser what there is to choose, with how often. */
function fillChooser(label, value) {
  const counts = new Map();
  for (const run of runsByName.values()) {
    for (const found of runValues(run, label.dataset.name)) {
      counts.set(found, (counts.get(found) || 0) + 1);
    }
  }
  const select = label.querySelector("select");
  const texts = [...counts].sort(([one], [other]) => order(one, other));
  const key = JSON.stringify(texts);
  if (select.dataset.key !== key) {
    select.dataset.key = key;
    select.replaceChildren(
      el("option", { value: "" }, "all"),
      ...texts.map(([text, count]) => el("option", { value: text }, `${text} (${count})`)),
    );
  }
  label.hidden = counts.size === 0;
  select.value = value;
}

function choose(name, wanted) {
  if (wanted) chosen.add(name);
  else chosen.delete(name);
  runView.showChosen();
  say(`${plural(chosen.size, "run")} chosen`);
}

/** Take in what changed. */
function take(found) {
  folder = { ...folder, ...found, runs: null };
  for (const run of found.runs) runsByName.set(run.name, { ...run, history: [], version: found.version });
  for (const name of found.gone || []) {
    runsByName.delete(name);
    chosen.delete(name);
  }
  findHistories();
}

async function changes() {
  const found = await asked("data/runs", [["since", folder.version]]);
  if (found.version !== folder.version || found.complete !== folder.complete) {
    take(found);
    runView.render();
  }
  const busy = !folder.complete || [...runsByName.values()].some((run) => !run.reckoned);
  return busy ? EVERY / 4 : EVERY;
}

open((found) => {
  take(found);
  document.body.classList.add("home");
  runView = runsView();
  main.replaceChildren(runView.node);
  runView.render();
  onKey("/", "filter the runs", () => runView.search());
  onKey("j", "next run", () => runView.move(1));
  onKey("k", "previous run", () => runView.move(-1));
  onKey("Enter", "open the run", () => false);
  onKey("Esc", "show all runs", () => runView.leave());
  if (!isServed) return;
  onKey("x", "choose the run for a comparison", () => runView.toggle());
  onKey("c", "compare the chosen runs", () => runView.compare());
  watch(changes, EVERY / 4);
});
