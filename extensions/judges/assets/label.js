// Episodes for people to label, or pairs of episodes of two runs: one at a time, without the
// verdict, and a file of what they say.

/**
 * What a page asks: its question, and the choices, each with a text, a class, a key and what the
 * key does. A file has a field for the label; lineOf and choiceOf convert between both.
 */
const ASKED = {
  passed: {
    question: "Was the user served in all turns? The model and the verdict are hidden.",
    noun: "episode",
    choices: {
      passed: ["✓ Served", "passed", "p", "the user was served"],
      failed: ["✗ Not served", "failed", "f", "the user was not served"],
    },
    lineOf: (episode, choice) => ({ passed: choice === "passed" }),
    choiceOf: (episode, { passed }) => (typeof passed === "boolean" ? (passed ? "passed" : "failed") : null),
  },
  winner: {
    question: "Which of the two episodes served the user better? The models and the verdicts are hidden.",
    noun: "pair",
    choices: {
      left: ["← The first is better", "passed", "1", "the first episode is better"],
      tie: ["Equally good", "passed", "0", "both are equally good"],
      right: ["The second is better →", "passed", "2", "the second episode is better"],
    },
    lineOf: ({ pair, swapped }, choice) => ({
      pair,
      winner: choice === "tie" ? "tie" : (choice === "left") === swapped ? "second" : "first",
    }),
    choiceOf: ({ pair: known, swapped }, { pair, winner }) => {
      if (pair !== known || !["first", "second", "tie"].includes(winner)) return null;
      if (winner === "tie") return "tie";
      return (winner === "first") === swapped ? "right" : "left";
    },
  },
};
const SIDES = ["First", "Second"];
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
function readLabels(text, episodes, { choiceOf }) {
  const known = new Map(episodes.map((episode) => [nameOf(episode), episode]));
  const found = new Map();
  let strange = 0;
  for (const line of text.split("\n").filter((each) => each.trim())) {
    let given = {};
    try {
      given = JSON.parse(line) || {};
    } catch {
      // Counted below.
    }
    const { id, trial = 0, note = "" } = given;
    const episode = known.get(nameOf({ id, trial }));
    const choice = episode ? choiceOf(episode, given) : null;
    if (choice === null) strange += 1;
    else found.set(nameOf(episode), { choice, note: String(note) });
  }
  return [found, strange];
}

/** Return the file of labels: a JSON line for each episode that has one. */
function linesOf(episodes, labels, { lineOf }, person) {
  return episodes
    .filter((episode) => labels.has(nameOf(episode)))
    .map((episode) => {
      const { choice, note } = labels.get(nameOf(episode));
      const { id, trial } = episode;
      const line = { id, trial, ...lineOf(episode, choice), ...(note ? { note } : {}), ...(person ? { person } : {}) };
      return `${JSON.stringify(line)}\n`;
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

function labelView({ key, kind, episodes }) {
  const asked = ASKED[kind];
  let labels = storedLabels(key);
  let at = Math.max(
    0,
    episodes.findIndex((episode) => !labels.has(nameOf(episode))),
  );
  const shown = el("div.exhibit");
  const count = el("p.count.quiet", { role: "status" });
  const title = el("h1");
  const buttons = Object.entries(asked.choices).map(([name, [text, style]]) =>
    el("button", { type: "button", class: style, "data-choice": name, click: () => put(name) }, text),
  );
  const person = el("input", { autocomplete: "name", maxlength: 60 });
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
      el("p.quiet", asked.question),
      count,
      el(
        "p.tools",
        el("button", { type: "button", click: () => move(-1) }, "← Previous"),
        el("button", { type: "button", click: () => move(1) }, "Next →"),
        el("button", { type: "button", click: () => nextOpen() }, "Next without a label"),
        el("button.save", { type: "button", click: () => save() }, "Save labels"),
        el("label", "Load labels ", file),
        kind === "winner" && el("label", "Your name (optional) ", person),
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
    count.textContent = `${labels.size} of ${plural(episodes.length, asked.noun)} labelled`;
    for (const button of buttons) {
      const isSo = label !== undefined && label.choice === button.dataset.choice;
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
    const side = (some, index) =>
      el("section.side", { "aria-label": `${SIDES[index]} episode` }, el("h2.which", SIDES[index]), some.map(partOf));
    shown.replaceChildren(...(kind === "winner" ? parts.map(side) : parts.map(partOf)));
    shown.classList.toggle("pair", kind === "winner");
    document.title = `${id} – labels`;
    update();
    window.scrollTo(0, 0);
  }

  function move(by) {
    if (at + by < 0 || at + by >= episodes.length) return say(`No more ${asked.noun}s.`);
    at += by;
    return show();
  }

  function nextOpen() {
    const order = episodes.map((_, index) => (at + 1 + index) % episodes.length);
    const found = order.find((index) => !labels.has(nameOf(episodes[index])));
    if (found === undefined) return say(`All ${asked.noun}s are labelled.`);
    at = found;
    return show();
  }

  function put(choice) {
    const name = nameOf(current());
    const { note: kept = "" } = labels.get(name) || {};
    if (choice === null) labels.delete(name);
    else labels.set(name, { choice, note: kept });
    storedLabels(key, labels);
    update();
    say(choice === null ? "No label." : asked.choices[choice][0]);
  }

  function annotate() {
    const name = nameOf(current());
    labels.set(name, { ...labels.get(name), note: note.value });
    storedLabels(key, labels);
  }

  async function load() {
    const [chosen] = file.files;
    if (!chosen) return;
    const [found, strange] = readLabels(await chosen.text(), episodes, asked);
    labels = new Map([...labels, ...found]);
    storedLabels(key, labels);
    file.value = "";
    update();
    const others = strange ? `; ${plural(strange, "line")} without ${asked.noun === "pair" ? "a pair" : "an episode"} here` : "";
    count.append(` – ${plural(found.size, "label")} loaded${others}`);
  }

  function save() {
    if (!labels.size) return say("No labels yet.");
    return download("labels.jsonl", linesOf(episodes, labels, asked, person.value.trim()));
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
  const { noun } = ASKED[index.kind];
  labelling = labelView(index);
  main.replaceChildren(labelling.node);
  document.getElementById("heading").replaceChildren(el("span.run", "Labels"));
  for (const [name, [, , key, says]] of Object.entries(ASKED[index.kind].choices)) {
    onKey(key, says, () => labelling.put(name));
  }
  onKey("u", "no label", () => labelling.put(null));
  onKey("j", `next ${noun}`, () => labelling.move(1));
  onKey("k", `previous ${noun}`, () => labelling.move(-1));
  onKey("n", `next ${noun} without a label`, () => labelling.nextOpen());
  onKey("s", "save the labels", () => labelling.save());
  await labelling.show();
});
