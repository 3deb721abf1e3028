// Episodes for people to label: one at a time, without the verdict, and a file of what they say.

const LABELS = { passed: "✓ Served", failed: "✗ Not served" };
let labelling = null;

/** Keep labels where the browser lets a page that is a file do so. */
function storedLabels(key, labels) {
  try {
    if (labels) localStorage.setItem(key, JSON.stringify([...labels]));
    return new Map(JSON.parse(localStorage.getItem(key) || "[]"));
  } catch {
    return new Map();
  }
}

function nameOf({ id, trial }) {
  return JSON.stringify([id, trial]);
}

/** Return what a file of labels says: labels by episode, and how many lines are of none here. */
function readLabels(text, episodes) {
  const known = new Set(episodes.map(nameOf));
  const found = new Map();
  let strange = 0;
  for (const line of text.split("\n").filter((each) => each.trim())) {
    let given = {};
    try {
      given = JSON.parse(line) || {};
    } catch {
      // Counted below.
    }
    const { id, trial = 0, passed, note = "" } = given;
    if (typeof passed !== "boolean" || !known.has(nameOf({ id, trial }))) strange += 1;
    else found.set(nameOf({ id, trial }), { passed, note: String(note) });
  }
  return [found, strange];
}

/** Return the file of labels: a JSON line for each episode that has one. */
function linesOf(episodes, labels) {
  return episodes
    .filter((episode) => labels.has(nameOf(episode)))
    .map((episode) => {
      const { passed, note } = labels.get(nameOf(episode));
      const { id, trial } = episode;
      return `${JSON.stringify(note ? { id, trial, passed, note } : { id, trial, passed })}\n`;
    })
    .join("");
}

function download(name, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/jsonl" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function labelView({ key, episodes }) {
  let labels = storedLabels(key);
  let at = Math.max(
    0,
    episodes.findIndex((episode) => !labels.has(nameOf(episode))),
  );
  const shown = el("div.exhibit");
  const count = el("p.count.quiet", { role: "status" });
  const title = el("h1");
  const buttons = Object.entries(LABELS).map(([name, text]) =>
    el("button", { type: "button", class: name, click: () => put(name === "passed") }, text),
  );
  const clear = el("button", { type: "button", click: () => put(null) }, "No label");
  const note = el("textarea", {
    rows: "2",
    "aria-label": "Note",
    placeholder: "Note (optional)",
    input: () => annotate(),
  });
  const file = el("input", { type: "file", accept: ".jsonl,.json", change: () => load() });
  const node = el(
    "div.labelling",
    el(
      "section.card.bar",
      el("p.quiet", "Was the user served in all turns? The model and the verdict are hidden."),
      count,
      el(
        "p.tools",
        el("button", { type: "button", click: () => move(-1) }, "← Previous"),
        el("button", { type: "button", click: () => move(1) }, "Next →"),
        el("button", { type: "button", click: () => nextOpen() }, "Next without a label"),
        el("button.save", { type: "button", click: () => save() }, "Save labels"),
        el("label", "Load labels ", file),
      ),
    ),
    title,
    shown,
    el("section.card.say", el("p.tools", buttons, clear), note),
  );

  function current() {
    return episodes[at];
  }

  function update() {
    const label = labels.get(nameOf(current()));
    count.textContent = `${labels.size} of ${plural(episodes.length, "episode")} labelled`;
    for (const [index, button] of buttons.entries()) {
      const isSo = label !== undefined && label.passed === (index === 0);
      button.setAttribute("aria-pressed", String(isSo));
    }
    note.value = label ? label.note : "";
    note.disabled = label === undefined;
  }

  async function show() {
    const wanted = at;
    const parts = await unpack(1 + at);
    // Something else may have been asked for meanwhile.
    if (wanted !== at) return;
    const { id, trial, category } = current();
    title.replaceChildren(
      visible(`${at + 1}. ${id}`),
      el("small", ` ${category}${trial ? `, trial ${trial}` : ""}`),
    );
    shown.replaceChildren(...parts.map(partOf));
    document.title = `${id} – labels`;
    update();
    window.scrollTo(0, 0);
  }

  function move(by) {
    if (at + by < 0 || at + by >= episodes.length) return say("No more episodes.");
    at += by;
    return show();
  }

  function nextOpen() {
    const order = episodes.map((_, index) => (at + 1 + index) % episodes.length);
    const found = order.find((index) => !labels.has(nameOf(episodes[index])));
    if (found === undefined) return say("All episodes are labelled.");
    at = found;
    return show();
  }

  function put(passed) {
    const name = nameOf(current());
    const { note: kept = "" } = labels.get(name) || {};
    if (passed === null) labels.delete(name);
    else labels.set(name, { passed, note: kept });
    storedLabels(key, labels);
    update();
    say(passed === null ? "No label." : LABELS[passed ? "passed" : "failed"]);
  }

  function annotate() {
    const name = nameOf(current());
    labels.set(name, { ...labels.get(name), note: note.value });
    storedLabels(key, labels);
  }

  async function load() {
    const [chosen] = file.files;
    if (!chosen) return;
    const [found, strange] = readLabels(await chosen.text(), episodes);
    labels = new Map([...labels, ...found]);
    storedLabels(key, labels);
    file.value = "";
    update();
    const others = strange ? `; ${plural(strange, "line")} without an episode here` : "";
    count.append(` – ${plural(found.size, "label")} loaded${others}`);
  }

  function save() {
    if (!labels.size) return say("No labels yet.");
    return download("labels.jsonl", linesOf(episodes, labels));
  }

  return { node, show, move, nextOpen, put, save };
}

/** Return what was said, by whom, or a line of ours. */
function partOf([kind, text]) {
  if (kind === "heading") return el("h2", text);
  if (kind === "line") return el("p.quiet", text);
  if (kind === "functions") {
    return el("details", el("summary", "Functions"), el("pre", text));
  }
  const said = kind === "user" || kind === "answer" ? el("p.prose", text) : block(text);
  return el("div", { class: `says ${kind}` }, el("h3", words(kind)), said);
}

open(async (index) => {
  labelling = labelView(index);
  main.replaceChildren(labelling.node);
  document.getElementById("heading").replaceChildren(el("span.run", "Labels"));
  onKey("p", "the user was served", () => labelling.put(true));
  onKey("f", "the user was not served", () => labelling.put(false));
  onKey("u", "no label", () => labelling.put(null));
  onKey("j", "next episode", () => labelling.move(1));
  onKey("k", "previous episode", () => labelling.move(-1));
  onKey("n", "next episode without a label", () => labelling.nextOpen());
  onKey("s", "save the labels", () => labelling.save());
  await labelling.show();
});
