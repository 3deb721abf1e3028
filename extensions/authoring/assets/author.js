// A draft of an entry: its turns, whose calls the server executes from the initial config after
// every change. The server stores every change, so a reload goes on from the same draft.

const DRAFT = new URLSearchParams(location.search).get("id") || "";
const PAUSE = 400;
const KINDS = { number: "Number", text: "Text", items: "List", yes: "Yes or no", date: "Date" };
const CLASSES = ["sound", "arguable", "wrong"];

let shown = null;
let entry = null;
let past = [];
let future = [];
let waiting = null;
let storing = Promise.resolve();
let replacing = null;
let findings = null;

// Changes

/** Remove marks whose call is gone, and empty lists. */
function prune(turn) {
  const calls = new Set(turn.ground_truth);
  const kept = {
    accepts: (turn.accepts || []).filter(({ call, instead }) => calls.has(call) && instead.length),
    ordered: (turn.ordered || []).map((group) => group.filter((call) => calls.has(call))).filter((group) => group.length),
  };
  for (const name of ["tells", "never", "offers"]) kept[name] = turn[name] || [];
  for (const [name, list] of Object.entries(kept)) {
    if (list.length) turn[name] = list;
    else delete turn[name];
  }
}

/** Store the draft after earlier changes, and take what the server answers. */
function store() {
  clearTimeout(waiting);
  waiting = null;
  storing = storing.catch(() => null).then(async () => {
    const body = { draft: DRAFT, revision: shown.revision, entry };
    shown = await asked("data/play", [], "POST", body);
    status();
  });
  return storing;
}

function remember() {
  past.push(JSON.stringify(entry));
  future = [];
  findings = null;
}

/** Change the draft, store it and show the new results. */
async function change(mutate) {
  remember();
  mutate(entry);
  if (Array.isArray(entry.turns)) entry.turns.forEach(prune);
  await store();
  render();
}

/** Take over a text while somebody types; it is stored after a pause. */
function typed(mutate) {
  if (waiting === null) remember();
  clearTimeout(waiting);
  mutate(entry);
  waiting = setTimeout(store, PAUSE);
}

/** Store what was typed last; a server keeps requests of pages that are left. */
async function flush() {
  if (waiting !== null) store();
  await storing;
}

async function travel(from, to) {
  await flush();
  if (from.length === 0) return say("Nothing left.");
  to.push(JSON.stringify(entry));
  entry = JSON.parse(from.pop());
  findings = null;
  await store();
  render();
  return say("Changed back.");
}

// Requests about the draft

function described(more = {}) {
  return { draft: DRAFT, revision: shown.revision, name: reviewer(), ...more };
}

function reviewer() {
  const input = document.getElementById("reviewer");
  return input ? input.value.trim() : shown.name;
}

async function attempt(act) {
  const problem = document.getElementById("problem");
  problem.hidden = true;
  try {
    await flush();
    await act();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    problem.textContent = error.message;
    problem.hidden = false;
  }
}

function check() {
  return attempt(async () => {
    ({ findings } = await asked("data/check", [], "POST", described()));
    render();
    say(findings.length ? plural(findings.length, "finding") : "No findings.");
  });
}

function save() {
  return attempt(async () => {
    const answer = await asked("data/save", [], "POST", described());
    findings = answer.findings;
    if (answer.saved) {
      shown = answer;
      ({ entry } = answer);
    }
    render();
    say(answer.saved ? "Saved." : "Not saved: mend the errors first.");
  });
}

function review(found, reason) {
  return attempt(async () => {
    shown = await asked("data/review", [], "POST", described({ class: found, reason }));
    render();
    say("The review is stored.");
  });
}

function discard() {
  return attempt(async () => {
    await asked("data/discard", [], "POST", described());
    location.assign(ROOT);
  });
}

// Parts of the page

/** Return an input with a value, which is never markup. */
function field(kind, properties, value = "") {
  const node = el(kind, { autocomplete: "off", spellcheck: "false", ...properties });
  node.value = value;
  return node;
}

function button(text, click, properties = {}) {
  return el("button", { type: "button", click, ...properties }, text);
}

function lines(text) {
  return text.split("\n").map((each) => each.trim()).filter(Boolean);
}

function names(text) {
  return text.split(",").map((each) => each.trim()).filter(Boolean);
}

/** Return a form; a problem of its values is shown in the form. */
function changeForm(mutate, ...content) {
  const problem = el("p.problem", { role: "alert", hidden: true });
  const submit = (event) => {
    event.preventDefault();
    try {
      const made = mutate();
      problem.hidden = true;
      attempt(() => change(made));
    } catch (error) {
      problem.textContent = error.message;
      problem.hidden = false;
    }
  };
  return el("form.author-form", { submit }, content, problem);
}

function parsed(text, what) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`${what} is not valid JSON: ${error.message}`);
  }
}

function removable(label, items, remove) {
  if (!items.length) return null;
  const line = (text, index) =>
    el("li", el("code", text), button("Remove", () => attempt(() => change(() => remove(index))), { "aria-label": `Remove ${text}` }));
  return el("div", el("h4", label), el("ul.marks", items.map(line)));
}

function messagesOf(turn, number) {
  const box = (label, content, mutate) =>
    el("label", label, field("textarea", { rows: 2, "data-name": `${label}-${number}`, input: (event) => typed(() => mutate(event.target.value)) }, content));
  const only = turn.messages.length === 0 || (turn.messages.length === 1 && turn.messages[0].role === "user");
  if (only) {
    const content = turn.messages.length ? turn.messages[0].content : "";
    return box("User message", content, (text) => {
      entry.turns[number].messages = text ? [{ role: "user", content: text }] : [];
    });
  }
  return turn.messages.map(({ role, content }, index) =>
    box(`Message ${index + 1} (${role})`, content, (text) => {
      entry.turns[number].messages[index].content = text;
    }),
  );
}

function callRow(number, index, text, made) {
  const calls = () => entry.turns[number].ground_truth;
  const about = `turn ${number + 1}, call ${index + 1}`;
  const edit = () => {
    replacing = [number, index];
    const input = document.querySelector(`[data-name="call-${number}"]`);
    input.value = text;
    input.focus();
    say("Change the call and press Execute.");
  };
  return el(
    "li.made",
    el("p.call", el("code", text), made && made.failed && el("span.badge.failed", "error")),
    made && block(made.result),
    made && made.changes.length > 0 && el("ul.changes", { "aria-label": `State changes of ${about}` }, made.changes.map((each) => el("li", el("code", each)))),
    made && made.more > 0 && el("p.quiet", plural(made.more, "more change")),
    made && made.notices.map((each) => el("p.notice", each)),
    el(
      "p.actions",
      button("Edit", edit, { "aria-label": `Edit ${about}` }),
      button("Remove", () => attempt(() => change(() => calls().splice(index, 1))), { "aria-label": `Remove ${about}` }),
    ),
    made && made.reads && !made.failed && alternatives(number, text, about),
  );
}

function alternatives(number, call, about) {
  const turn = entry.turns[number];
  const known = (turn.accepts || []).filter((each) => each.call === call);
  const input = field("textarea", { rows: 1, "aria-label": `Alternative to ${about}` });
  const remove = (index) => {
    turn.accepts = turn.accepts.filter((each) => each !== known[index]);
  };
  return lazilyOpen(
    known.length > 0,
    "Accept other calls instead",
    removable("Accepted instead", known.map(({ instead }) => instead.join("; ")), remove),
    changeForm(
      () => {
        const instead = lines(input.value);
        if (!instead.length) throw new Error("Write at least one call.");
        return () => {
          turn.accepts = [...(turn.accepts || []), { call, instead }];
        };
      },
      el("label", "Calls whose results together replace this result, one per line", input),
      el("p.actions", el("button", { type: "submit" }, "Accept")),
    ),
  );
}

/** Return a section that can be opened; it is open if it has content. */
function lazilyOpen(isOpen, title, ...content) {
  return el("details", { open: isOpen }, el("summary", title), content);
}

function callForm(number) {
  const { functions } = shown.played;
  const about = el("p.quiet.about");
  const call = field("input", { "data-name": `call-${number}`, placeholder: "function(name='value')" });
  const template = ({ name, parameters }) =>
    `${name}(${parameters.filter((each) => each.required).map((each) => `${each.name}=`).join(", ")})`;
  const choose = (event) => {
    const found = functions.find(({ name }) => name === event.target.value);
    if (!found) return;
    call.value = template(found);
    const parameters = found.parameters.map((each) => `${each.name}${each.required ? "" : " (optional)"}: ${each.about}`);
    about.replaceChildren(visible([found.about, ...parameters].join("\n")));
    call.focus();
  };
  const list = el("select", { change: choose }, el("option", { value: "" }, "Choose a function"), functions.map(({ name }) => el("option", { value: name }, name)));
  return changeForm(
    () => {
      const text = call.value.trim();
      if (!text) throw new Error("Write a call.");
      const at = replacing && replacing[0] === number ? replacing[1] : null;
      replacing = null;
      return () => {
        const { ground_truth: calls } = entry.turns[number];
        if (at === null) calls.push(text);
        else calls[at] = text;
      };
    },
    el("p.actions", el("label", "Function", list), el("label.wide", "Call", call), el("button", { type: "submit" }, "Execute")),
    about,
  );
}

/** Return the JSON object of a fact. Throws an error if a value is missing. */
function factOf(kind, values) {
  const [first, second, isOn] = values;
  const several = lines(first);
  if (kind === "number") {
    if (first.trim() === "" || !Number.isFinite(Number(first))) throw new Error("Write a number.");
    return { number: Number(first), ...(second.trim() ? { unit: second.trim() } : {}) };
  }
  if (!several.length) throw new Error("Write a value.");
  if (kind === "text") return { text: several[0], ...(several.length > 1 ? { alternatives: several.slice(1) } : {}) };
  if (kind === "items") return { items: several, ...(isOn ? { ordered: true } : {}) };
  if (kind === "yes") return { yes: isOn, about: several };
  return { date: several[0] };
}

function factForm(number) {
  const turn = entry.turns[number];
  const kind = el("select", Object.entries(KINDS).map(([value, text]) => el("option", { value }, text)));
  const value = field("textarea", { rows: 2 });
  const unit = field("input", {});
  const flag = el("input", { type: "checkbox" });
  return changeForm(
    () => {
      const fact = factOf(kind.value, [value.value, unit.value, flag.checked]);
      return () => {
        turn.tells = [...(turn.tells || []), fact];
      };
    },
    el(
      "p.actions",
      el("label", "Kind", kind),
      el("label.wide", "Value, alternatives or items, one per line", value),
      el("label", "Unit of a number", unit),
      el("label.check", flag, "true, or the order of the list matters"),
      el("button", { type: "submit" }, "Require fact"),
    ),
  );
}

function orderForm(number) {
  const turn = entry.turns[number];
  const boxes = turn.ground_truth.map((call) => [el("input", { type: "checkbox" }), call]);
  return changeForm(
    () => {
      const group = boxes.filter(([box]) => box.checked).map(([, call]) => call);
      if (!group.length) throw new Error("Select at least one call.");
      return () => {
        turn.ordered = [...(turn.ordered || []), group];
      };
    },
    el("div.order", boxes.map(([box, call]) => el("label.check", box, el("code", call)))),
    el("p.actions", el("button", { type: "submit" }, "Require this order")),
  );
}

function listForm(label, submit, add) {
  const input = field("input", {});
  return changeForm(
    () => {
      const text = input.value.trim();
      if (!text) throw new Error("Write a value.");
      return () => add(text);
    },
    el("p.actions", el("label.wide", label, input), el("button", { type: "submit" }, submit)),
  );
}

function marks(number) {
  const turn = entry.turns[number];
  const { tells = [], ordered = [], never = [], offers = [], stays = false } = turn;
  const without = (name) => (index) => turn[name].splice(index, 1);
  const count = tells.length + ordered.length + never.length + offers.length + Number(stays);
  const box = el("input", {
    type: "checkbox",
    checked: stays,
    change: (event) => {
      const isOn = event.target.checked;
      attempt(() => change(() => (isOn ? (turn.stays = true) : delete turn.stays)));
    },
  });
  return lazilyOpen(
    count > 0,
    `Rules of this turn${count ? ` (${count})` : ""}`,
    el("h3", "Required information: facts that the answer must report"),
    removable("Required facts", tells.map((fact) => JSON.stringify(fact)), without("tells")),
    factForm(number),
    turn.ground_truth.length > 0 && [
      el("h3", "Order: calls whose order the user dictates"),
      removable("Dictated orders", ordered.map((group) => group.join(" → ")), without("ordered")),
      orderForm(number),
    ],
    el("h3", "Prohibited: calls that the user forbids from this turn on"),
    removable("Prohibited calls", never, without("never")),
    listForm("Call, with some or all arguments by name", "Prohibit", (text) => {
      turn.never = [...(turn.never || []), text];
    }),
    el("h3", "Added functions: held-out functions that are offered from this turn on"),
    removable("Added functions", offers, without("offers")),
    listForm("Name of a function", "Offer", (text) => {
      turn.offers = [...(turn.offers || []), text];
    }),
    el("label.check", box, "The user dictates the working directory at the end of the turn"),
  );
}

function turnCard(turn, number) {
  const played = shown.played.turns[number];
  const made = played ? played.calls : [];
  const remove = () => attempt(() => change(() => entry.turns.splice(number, 1)));
  const stateView = lazily("State after this turn", () => stateOf(number + 1));
  return card(
    `Turn ${number + 1}`,
    messagesOf(turn, number),
    played && played.notices.map((each) => el("p.notice", each)),
    el("ol.calls", { "aria-label": `Calls of turn ${number + 1}` }, turn.ground_truth.map((text, index) => callRow(number, index, text, made[index]))),
    callForm(number),
    marks(number),
    played && stateView,
    entry.turns.length > 1 && el("p.actions", button(`Remove turn ${number + 1}`, remove)),
  );
}

async function stateOf(turn) {
  try {
    await flush();
    const { state } = await asked("data/state", [["id", DRAFT], ["turn", turn]]);
    return [json(state)];
  } catch (error) {
    return [el("p.problem", error.message)];
  }
}

function aboutForm() {
  const category = field("input", {}, entry.category);
  const id = field("input", { "data-name": "id" }, entry.id);
  const labels = field("input", {}, (entry.labels || []).join(", "));
  const tags = field("input", {}, (entry.tags || []).join(", "));
  const excluded = field("input", {}, (entry.excluded || []).join(", "));
  const comment = field("textarea", { rows: 2 }, entry.comment || "");
  const put = (name, value) => {
    if (value.length) entry[name] = value;
    else delete entry[name];
  };
  return changeForm(
    () => () => {
      entry.id = id.value.trim();
      entry.category = category.value.trim();
      put("labels", names(labels.value));
      put("tags", names(tags.value));
      put("excluded", names(excluded.value));
      put("comment", comment.value.trim());
    },
    el("label", "Id", id),
    el("label", "Category", category),
    el("label", "Difficulty labels, separated by commas", labels),
    el("label", "Tags, separated by commas", tags),
    el("label", "Functions that are never offered, separated by commas", excluded),
    el("label", "Comment", comment),
    el("p.actions", el("button", { type: "submit" }, "Apply")),
  );
}

function jsonForm(label, value, put) {
  const text = field("textarea", { rows: 14, class: "code" }, JSON.stringify(value, null, 2));
  return changeForm(
    () => {
      const made = parsed(text.value, label);
      if (made === null || typeof made !== "object" || Array.isArray(made)) throw new Error(`${label} must be a JSON object.`);
      return () => put(made);
    },
    el("label", label, text),
    el("p.actions", el("button", { type: "submit" }, "Apply")),
  );
}

function findingList() {
  if (findings === null) return null;
  const line = ({ rule, severity, turn, field: where, message }) =>
    el(
      "li",
      el("span", { class: `badge ${severity === "error" ? "failed" : "error"}` }, severity),
      ` ${rule}${turn === null ? "" : `, turn ${turn + 1}`}, ${where}: ${message}`,
    );
  const order = ["error", "warning", "info"];
  const sorted = [...findings].sort((a, b) => order.indexOf(a.severity) - order.indexOf(b.severity));
  return card("Findings", sorted.length ? el("ul.findings", sorted.map(line)) : el("p", "No findings. The oracle passes."));
}

function reviewCard() {
  const { status: found, saved } = shown;
  if (!saved) return card("Review", el("p.quiet", "Save the draft first. Reviews are about a saved version."));
  const choice = el("select", CLASSES.map((name) => el("option", name)));
  const reason = field("input", {});
  const line = (each) =>
    el("li", `${each.reviewer}: ${each.class}${each.reason ? `: ${each.reason}` : ""}${each.current ? "" : " (earlier version)"}`);
  return card(
    "Review",
    el("p.state", `State: ${found.state}${found.changed ? "; changed since its last review" : ""}`),
    el("ul.reviews", found.reviews.map(line)),
    el(
      "p.actions",
      button("Approve", () => review("sound", "")),
      el("label", "Outcome", choice),
      el("label.wide", "Reason", reason),
      button("Store review", () => review(choice.value, reason.value)),
    ),
  );
}

function status() {
  const node = document.getElementById("saved");
  if (node) node.textContent = shown.saved ? "Saved in the file" : "Draft, not saved in the file";
}

function toolbar() {
  const name = field("input", { id: "reviewer", "data-name": "name", change: () => stored("author", name.value.trim()) }, stored("author") || shown.name);
  return el(
    "section.card.bar",
    el("p.state", { id: "saved", role: "status" }),
    el(
      "p.actions",
      button("Undo", () => attempt(() => travel(past, future))),
      button("Redo", () => attempt(() => travel(future, past))),
      button("Check", check),
      el("label", "Your name", name),
      button("Save", save, { class: "save" }),
      button("Discard draft", discard),
    ),
    el("p.problem", { id: "problem", role: "alert", hidden: true }),
  );
}

function render() {
  const focused = document.activeElement && document.activeElement.dataset.name;
  const problem = document.getElementById("problem");
  const kept = problem && !problem.hidden ? problem.textContent : "";
  const position = window.scrollY;
  const turns = Array.isArray(entry.turns) ? entry.turns : [];
  document.title = `${entry.id} – draft`;
  document.getElementById("heading").replaceChildren(el("span.run", entry.id || "Draft"));
  main.replaceChildren(
    el("h1", entry.id || "Draft", el("small", ` ${entry.category}; ${(entry.environments || []).join(", ")}`)),
    toolbar(),
    ...[
      shown.played.problem && el("p.problem.draft-problem", { role: "alert" }, shown.played.problem),
      findingList(),
      ...turns.map(turnCard),
      el("p.actions", button("Add turn", () => attempt(() => change(() => turns.push({ messages: [], ground_truth: [] }))))),
      reviewCard(),
      card(
        "Entry",
        lazily("Id, category, labels, comment", () => aboutForm()),
        lazily("Initial config", () => jsonForm("Initial config", entry.config, (made) => (entry.config = made))),
        lazily("Initial state", () => stateOf(0)),
        lazily("Whole entry as JSON", () => jsonForm("Entry", entry, (made) => (entry = made))),
      ),
    ].filter(Boolean),
  );
  status();
  if (kept) Object.assign(document.getElementById("problem"), { textContent: kept, hidden: false });
  if (focused) document.querySelector(`[data-name="${CSS.escape(focused)}"]`)?.focus();
  window.scrollTo(0, position);
}

unpack = async () => asked("data/draft", [["id", DRAFT]]);
exported = () => ["export/draft", [["id", DRAFT]]];
window.addEventListener("pagehide", () => {
  if (waiting === null) return;
  const body = JSON.stringify({ draft: DRAFT, revision: shown.revision, entry });
  fetch(pathTo("data/play"), { method: "POST", body, keepalive: true });
});

open(async (found) => {
  shown = found;
  ({ entry } = found);
  render();
  onKey("z", "undo", () => attempt(() => travel(past, future)));
  onKey("y", "redo", () => attempt(() => travel(future, past)));
  onKey("v", "check the draft", check);
  onKey("g", "all entries", () => location.assign(ROOT));
});
