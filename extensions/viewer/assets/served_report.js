// The report on a run as the viewer serves it: episodes come as they are opened, and the list grows
// while the run goes on. What else was done with an entry, in other runs, stands beside its episode.

const RUN = decodeURIComponent(HERE.replace(/^run\//, ""));
let seen = null;
let isPartial = false;
let lacksCauses = false;

unpack = async (number) => {
  if (number === 0) return indexOf(placeOf(location.hash));
  const row = number === 1 ? place : runs[0].rows[number - 2];
  return asked(`data/${HERE}`, [
    ["part", number === 1 ? "shared" : "episode"],
    ["id", row.id],
    ["trial", row.trial],
  ]);
};

/** Return the index of the run: one episode if the address names it, else the recorded outcomes. */
async function indexOf({ id, trial }) {
  // Should there be nothing to show yet, this tells when there is.
  seen = (await stateOfRun()).seen;
  const wanted = id === null ? [["first", 1]] : [["id", id], ["trial", trial]];
  const found = await asked(`data/${HERE}`, wanted);
  lacksCauses = found.partial;
  isPartial = id !== null || lacksCauses;
  takeNotes(found);
  if (lacksCauses) showNotes([...found.notes, "Causes and more figures appear in a few seconds."]);
  return [found];
}

function takeNotes(found) {
  seen = found.seen;
  showNotes(found.notes);
}

/** Take in the whole run, or what has changed in it, and leave what is shown as it is. */
async function renew() {
  const wasPartial = isPartial;
  const hadCauses = !lacksCauses;
  const found = await asked(`data/${HERE}`);
  takeNotes(found);
  isPartial = lacksCauses = false;
  lists.clear();
  Object.assign(runs[0], found);
  if (place.id !== null && hadCauses) return;
  const typed = document.activeElement && document.activeElement.id === "search";
  const link = document.activeElement && document.activeElement.closest("td.id, td.place");
  const at = [scrollX, scrollY];
  const href = link && document.activeElement.getAttribute("href");
  const opened = new Set(allDetails().filter(([node]) => node.open).map(([, name]) => name));
  place = {};
  await arrive();
  for (const [node, name] of allDetails()) if (opened.has(name)) node.open = true;
  scrollTo(...at);
  if (typed) document.getElementById("search").focus();
  const again = href && [...main.querySelectorAll("td a")].find((a) => a.getAttribute("href") === href);
  if (again) again.focus({ preventScroll: true });
  say(wasPartial ? "The list shows the causes." : "New episodes in the list.");
}

/** Return everything that opens, each with its title and its number among equal titles. */
function allDetails() {
  const times = {};
  return [...main.querySelectorAll("details")].map((node) => {
    const title = node.querySelector("summary").textContent;
    times[title] = (times[title] || 0) + 1;
    return [node, `${title} ${times[title]}`];
  });
}

function stateOfRun() {
  return asked(`data/state/${HERE.replace(/^run\//, "")}`);
}

async function listen() {
  const state = await stateOfRun();
  showState(state);
  if (runs.length === 0) {
    if (seen !== null && seen !== state.seen) location.reload();
    return;
  }
  if (isPartial || state.seen !== seen) await renew();
}

function showState({ state, episodes, planned }) {
  let line = document.getElementById("live");
  if (state !== "running") return line && line.remove();
  if (!line) {
    line = el("span.badge.live", { id: "live", role: "status" });
    document.getElementById("heading").after(line);
  }
  line.textContent = `● ${episodes} of ${planned ?? "?"}`;
  line.title = "The run is in progress";
  return line;
}

exported = () => [
  `export/${HERE}`,
  place.id === null ? [] : [["id", place.id], ["trial", place.trial]],
];

// The same entry in other runs

besides = (node) => {
  const { id, trial } = place;
  const summary = node.querySelector(".summary");
  if (!summary) return;
  const others = lazily("The same entry in other runs", async () => {
    const { found, most } = await asked("data/entry", [["id", id]]);
    return otherRuns(found, most, id, trial);
  });
  others.classList.add("others");
  summary.append(others, lazily("Try a call", async () => callForm(id, trial)));
};

// A call on the state of this episode

/** Return a form for calls after the model's calls of a turn; the run stays unchanged. */
function callForm(id, trial) {
  const turn = el("input", { type: "number", min: 1, value: 1 });
  const call = el("input", { placeholder: "function(name='value')", autocomplete: "off", spellcheck: "false" });
  const output = el("div", { role: "status" });
  const submit = async (event) => {
    event.preventDefault();
    const pairs = [["run", RUN], ["id", id], ["trial", trial], ["turn", turn.value], ["call", call.value]];
    try {
      const { result, changes } = await asked("data/try", pairs);
      const changed = changes.length ? el("ul", changes.map((each) => el("li", el("code", each)))) : el("p.quiet", "The state is unchanged.");
      output.replaceChildren(el("pre", result), changed);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      output.replaceChildren(el("p.problem", error.message));
    }
  };
  const button = el("button", { type: "submit" }, "Try");
  return el(
    "form.try",
    { submit },
    el("p.quiet", "The call is made after the model's calls of this turn, in a copy of the state."),
    el("p.actions", el("label", "Turn", turn), el("label", "Call", call), button),
    output,
  );
}

function otherRuns(found, most, id, trial) {
  const isThis = (each) => each.run === RUN && each.trial === trial;
  const boxes = [];
  const go = el("a.tool", { href: ROOT }, "Side by side");
  const update = () => {
    const wanted = boxes.filter(([box]) => box.checked).map(([, each]) => each);
    go.hidden = wanted.length < 2 || wanted.length > most;
    go.setAttribute("href", sideBySidePath(id, wanted));
  };
  const line = (each) => {
    const label = `${each.run}${each.trial ? `, trial ${each.trial}` : ""}`;
    const box = el("input", { type: "checkbox", "aria-label": `Put ${label} side by side`, change: update });
    box.checked = isThis(each);
    boxes.push([box, each]);
    return el(
      "tr",
      el("td", el("label.choose", box)),
      el("td", isThis(each) ? label : el("a", { href: episodePath(each.run, id, each.trial) }, label)),
      el("td", each.model || "–"),
      el("td", badge(each.outcome)),
    );
  };
  const rows = found.map(line);
  update();
  if (rows.length < 2) return el("p.quiet", "No other run has this entry.");
  return el(
    "div.beside",
    el("p.quiet", `Choose up to ${most} runs to align.`),
    scrolling("Runs with this entry", el("table", el("tbody", rows))),
    go,
  );
}

function sideBySidePath(id, wanted) {
  return pathTo("align", [["id", id], ...wanted.flatMap(({ run, trial }) => [["run", run], ["trial", trial]])]);
}

// Tags and notes

annotationForm = (shown, row) => {
  const kept = el("span", tagsOf(shown));
  const tags = el("input", { id: "tags", value: shown.tags.join(", "), autocomplete: "off" });
  const note = el("textarea", { id: "note", rows: 3 }, shown.note);
  const error = el("p.problem", { role: "alert" });
  const dialog = el(
    "dialog",
    { "aria-labelledby": "annotate" },
    el("h2", { id: "annotate" }, row ? `Tags and note: ${row.id}` : "Tags and note of the run"),
    el("label", "Tags, separated by commas", tags),
    el("label", "Note", note),
    error,
    el(
      "p.actions",
      el("button", { type: "button", click: save }, "Save"),
      el("button", { type: "button", click: () => dialog.close() }, "Cancel"),
    ),
  );
  async function save() {
    const wanted = tags.value.split(",").map((tag) => tag.trim()).filter(Boolean);
    const pairs = [["run", RUN], ...(row ? [["id", row.id], ["trial", row.trial]] : [])];
    try {
      const found = await asked(
        "data/annotation",
        [...pairs, ...wanted.map((tag) => ["tag", tag]), ["note", note.value]],
        "POST",
      );
      Object.assign(shown, found);
      lists.clear();
      kept.replaceChildren(...tagsOf(shown).filter(Boolean));
      dialog.close();
      say("Saved.");
    } catch (problem) {
      error.textContent = problem.message;
    }
  }
  const open = el("button.annotate", { type: "button", click: () => dialog.showModal() }, "Edit tags and note");
  return el("div.annotation", kept, open, dialog);
};

watch(listen);
