// Chats with a model: the person is the user, and the server executes the model's calls.

const CHAT = new URLSearchParams(location.search).get("id");
const SOON = 500;
let chat = null;
let drawn = "";

function chatPath(key) {
  return pathTo("chat", [["id", key]]);
}

async function startChat(body) {
  const { chat: key } = await asked("data/chat/start", [], "POST", body);
  location.assign(chatPath(key));
}

// The start of a chat

function entryRows(label, entries) {
  const row = ({ id, category, opening }) =>
    el(
      "tr",
      el("td.id", id, el("small.opening", opening)),
      el("td", category),
      el("td", el("button", { type: "button", click: () => startChat({ entry: id }), "aria-label": `Chat in the world of ${id}` }, "Chat")),
    );
  return scrolling(label, el("table.entries", heads(["entry", "category", ""]), el("tbody", entries.map(row))));
}

function startPage({ model, chats, environments }) {
  const listed = environmentList(environments);
  const submit = () => startChat({ environments: chosenIn(listed) });
  const line = ({ chat: key, id, messages }) => el("li", el("a", { href: chatPath(key) }, id), ` ${plural(messages, "message")}`);
  main.replaceChildren(
    el("h1", `Chat with ${model}`),
    ...(chats.length ? [card("Chats", el("ul.drafts", chats.map(line)))] : []),
    card("Chat in environments", problemForm(submit, el("label", "Environments (Ctrl selects several)", listed), el("p.actions", el("button", { type: "submit" }, "Start chat")))),
    card("Chat in the world of an entry", searchForm("data/chat/source", "Entries", entryRows)),
  );
}

// A chat

function spending({ spent, limits }) {
  const requests = limits.requests === null ? plural(spent.requests, "request") : `${spent.requests} of ${plural(limits.requests, "request")}`;
  const cost = spent.cost === null ? "" : `; $${spent.cost.toFixed(4)}${limits.cost === null ? "" : ` of $${limits.cost}`}`;
  return `All chats: ${requests}, ${plural(spent.tokens, "token")}${cost}`;
}

function stepOf(step) {
  const { text, reasoning, calls, changes, more, latency } = step;
  return el(
    "div.says.answer",
    el("h3", `Model, ${fixed(latency, 1)} s`),
    reasoning && el("details", el("summary", "Reasoning"), prose(reasoning)),
    text && prose(text),
    calls.map(({ call, result }) => el("div.made", el("p.call", el("code", call)), block(result))),
    changes.length > 0 && el("ul.changes", { "aria-label": "State changes" }, changes.map((each) => el("li", el("code", each)))),
    more > 0 && el("p.quiet", plural(more, "more change")),
  );
}

async function act(path, body = {}) {
  const problem = document.getElementById("problem");
  problem.hidden = true;
  try {
    return await asked(`data/chat/${path}`, [], "POST", { chat: CHAT, ...body });
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    problem.textContent = error.message;
    problem.hidden = false;
    return null;
  }
}

async function update(path, body) {
  const answer = await act(path, body);
  if (answer) draw(answer);
  return answer;
}

function chatPage() {
  const text = el("textarea", { id: "message", rows: 3, autocomplete: "off" });
  const send = async (event) => {
    event.preventDefault();
    const answer = await update("send", { text: text.value });
    if (answer) text.value = answer.suggested;
  };
  const button = (name, path, id) => el("button", { type: "button", id, click: () => update(path) }, name);
  const save = async () => {
    const saved = await act("save");
    if (!saved) return;
    const { run, entry } = saved;
    document.getElementById("saved").replaceChildren("Saved as the run ", el("a", { href: runPath(run) }, run), ". To edit its ground truth: ", el("code", `turnwise dataset author ${entry}`));
  };
  text.value = chat.suggested;
  const keys = (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send(event);
  };
  text.addEventListener("keydown", keys);
  main.classList.add("chat");
  main.replaceChildren(
    el("h1", `Chat with ${chat.model}`, el("small", ` ${chat.environments.join(", ")}`)),
    el("p.quiet", { id: "spending" }),
    el("div", { id: "turns", "aria-label": "Conversation", role: "log" }),
    el("p.quiet", { id: "state", role: "status" }),
    el("p.problem", { id: "chat-error", role: "alert", hidden: true }),
    el(
      "form.card.compose",
      { submit: send },
      el("label", "Your message (Ctrl+Enter sends it)", text),
      el(
        "p.actions",
        el("button", { type: "submit", id: "send" }, "Send"),
        button("Stop", "stop", "stop"),
        button("Ask again", "again", "again"),
        button("Take back", "back", "back"),
        el("button", { type: "button", id: "save", click: save }, "Save as a run"),
      ),
      el("p.problem", { id: "problem", role: "alert", hidden: true }),
      el("p.quiet", { id: "saved", role: "status" }),
    ),
  );
}

/** Show a chat; the message that somebody is writing stays. */
function draw(found) {
  chat = found;
  const { turns, running, error, unanswered, ended } = chat;
  const now = JSON.stringify([turns, running, error]);
  document.getElementById("spending").textContent = spending(chat);
  for (const [id, isOn] of Object.entries({ send: !running && !unanswered && !ended, stop: running, again: unanswered, back: !running && turns.length > 0, save: !running && turns.length > 0 })) {
    document.getElementById(id).disabled = !isOn;
  }
  document.getElementById("state").textContent = running ? "The model is answering …" : ended ? "The step limit ended this chat." : "";
  const shown = document.getElementById("chat-error");
  shown.textContent = error || "";
  shown.hidden = !error;
  if (now === drawn) return;
  drawn = now;
  document.getElementById("turns").replaceChildren(
    ...turns.flatMap(({ message, steps }, number) => [
      el("div.says.user", el("h3", `You, message ${number + 1}`), el("p.prose", message)),
      ...steps.map(stepOf),
    ]),
  );
}

async function poll() {
  if (!chat.running) return EVERY;
  draw(await asked("data/chat/shown", [["id", CHAT]]));
  return chat.running ? SOON : EVERY;
}

unpack = async () => (CHAT ? asked("data/chat/shown", [["id", CHAT]]) : asked("data/chat"));

open(async (found) => {
  document.title = "Chat – Turnwise";
  document.querySelector("a.tool[download]").remove();
  document.getElementById("heading").replaceChildren(el("a", { href: pathTo("chat") }, "Chat"));
  if (!CHAT) return startPage(found);
  chat = found;
  chatPage();
  draw(found);
  return watch(poll, SOON);
});
