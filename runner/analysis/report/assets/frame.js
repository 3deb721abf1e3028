"use strict";

// The frame of a page: elements made of texts and never of markup, packs of data, theme and keys.

const main = document.getElementById("main");
const PACKS = document.getElementsByClassName("pack");

/**
 * Make an element: a tag with classes, such as "p.quiet", then properties if there are any, then
 * texts, nodes and lists of them. A property that is a function listens; what is false is left out.
 */
function el(kind, ...content) {
  const [tag, ...classes] = kind.split(".");
  const made = document.createElement(tag);
  if (classes.length) made.className = classes.join(" ");
  const isGiven = content[0] && content[0].constructor === Object;
  for (const [name, value] of Object.entries(isGiven ? content[0] : {})) {
    if (!isNothing(value)) setProperty(made, name, value);
  }
  const children = content.slice(isGiven ? 1 : 0).flat(Infinity);
  made.append(
    ...children
      .filter((child) => !isNothing(child))
      .map((child) => (child instanceof Node ? child : visible(String(child)))),
  );
  return made;
}

// A page that is served says otherwise: served.js.
let staysHere = (href) => href.startsWith("#");

const isNothing = (value) => value === null || value === undefined || value === false;

function setProperty(node, name, value) {
  if (name === "href" && !staysHere(value)) throw new Error("a link must stay on the page");
  if (typeof value === "function") node.addEventListener(name, value);
  else if (name === "class") node.className = value;
  else if (name === "vars") {
    for (const [variable, is] of Object.entries(value)) node.style.setProperty(`--${variable}`, is);
  } else node.setAttribute(name, value === true ? "" : value);
}

// Characters that have no look of their own, or turn the text around them about. Those that join
// emoji are let through.
const ODD = /((?![\n\t\u200d])[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029])\1*/gu;

/** Return a text as nodes in which every character can be seen. */
function visible(text) {
  const shown = document.createDocumentFragment();
  let end = 0;
  for (const match of text.matchAll(ODD)) {
    const code = match[1].codePointAt(0);
    const times = match[0].length / match[1].length;
    const odd = document.createElement("span");
    odd.className = "odd";
    odd.textContent = `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
    if (times > 1) odd.textContent += ` ×${times}`;
    shown.append(text.slice(end, match.index), odd);
    end = match.index + match[0].length;
  }
  shown.append(text.slice(end));
  return shown;
}

/** Return the data of a pack; a page that is served has none and asks for them: served.js. */
let unpack = async (number) => {
  const bytes = Uint8Array.from(atob(PACKS[number].textContent), (character) =>
    character.charCodeAt(0),
  );
  const inflated = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return JSON.parse(await new Response(inflated).text());
};

/** Say something to those who do not see the page. */
function say(text) {
  document.getElementById("said").textContent = text;
}

/** Return a section of a page with a title. */
function card(title, ...content) {
  return el("section.card", el("h2", title), content);
}

/** Return a table in a region that scrolls sidewards, by keys too. */
function scrolling(label, table) {
  return el("div.scroll", { tabindex: "0", role: "region", "aria-label": label }, table);
}

/** Return a name of ours as words. */
function words(name) {
  const text = name.replace(/^multi_turn:/, "").replaceAll("_", " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function plural(count, noun, nouns = `${noun}s`) {
  return `${count.toLocaleString("en")} ${count === 1 ? noun : nouns}`;
}

/** Return a number with digits after the point; a tie goes to the even digit, as in the terminal. */
function fixed(number, digits) {
  const halves = number * 2 ** (digits + 1);
  if (!Number.isInteger(halves) || halves % 2 === 0) return number.toFixed(digits);
  const scale = 10 ** digits;
  return ((2 * Math.round((number * scale) / 2)) / scale).toFixed(digits);
}

function percent(share) {
  return share === null ? "–" : `${fixed(100 * share, 1)}%`;
}

function interval([low, high]) {
  return `${fixed(100 * low, 1)} – ${percent(high)}`;
}

const FORMS = {
  count: (value) => value.toLocaleString("en"),
  share: percent,
  acts: ([acts, share]) => `${acts} (${percent(share)})`,
  seconds: (value) => fixed(value, 3),
  dollars: (value) => fixed(value, 4),
};

/** Return a figure as its form says, with its interval if it is known. */
function figureText({ form, value, interval: span }, forms = FORMS) {
  if (value === null) return form === "share" || form === "acts" ? "–" : "unknown";
  return span ? `${forms[form](value)} (${interval(span)})` : forms[form](value);
}

function figureCells(figures) {
  return figures.map((figure) => el("td.number", figureText(figure)));
}

/** Return the card on figures of runs, which has a row for each run. */
function figureCard({ title, rows }) {
  const row = ({ label, figures }) =>
    el("tr", el("th", { scope: "row" }, label), figureCells(figures));
  const labels = rows[0].figures.map((figure) => figure.label);
  const table = el("table", numberedHead("run", labels), el("tbody", rows.map(row)));
  return card(title, scrolling(title, table));
}

/** Return the head of a table; the names of columns with numbers are in lists of their own. */
function heads(names) {
  const head = (name) => el("th", { scope: "col", class: Array.isArray(name) && "number" }, name);
  return el("thead", el("tr", names.map(head)));
}

function numberedHead(first, columns) {
  return heads([first, ...columns.map((name) => [name])]);
}

const THEMES = {
  auto: ["light dark", "◐ Auto"],
  light: ["light", "☀ Light"],
  dark: ["dark", "☾ Dark"],
};

function useTheme(name) {
  const [scheme, label] = THEMES[name];
  const button = document.getElementById("theme");
  document.documentElement.style.colorScheme = scheme;
  button.textContent = label;
  button.setAttribute("aria-label", `Colours: ${name}. Change them`);
  button.dataset.theme = name;
}

/** Remember a choice, where the browser lets a page that is a file do so. */
function stored(name, value) {
  try {
    if (value) localStorage.setItem(`turnwise-${name}`, value);
    return localStorage.getItem(`turnwise-${name}`);
  } catch {
    return null;
  }
}

const KEYS = new Map();

/** Let a key do something; the help lists what is said of it. */
function onKey(key, says, act) {
  KEYS.set(key, { says, act });
}

function toggleHelp() {
  const dialog = document.getElementById("keys");
  if (dialog.open) return dialog.close();
  const rows = [...KEYS]
    .filter(([, { says }]) => says)
    .map(([key, { says }]) => el("tr", el("td", el("kbd", key)), el("td", says)));
  dialog.replaceChildren(
    el("h2", { id: "keys-title" }, "Keys"),
    el("table", el("tbody", rows)),
    el("form", { method: "dialog" }, el("button", "Close")),
  );
  return dialog.showModal();
}

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("dialog:not(#keys)")) return;
  if (document.getElementById("keys").open) {
    if (event.key === "?") toggleHelp();
    return;
  }
  const typing = event.target.matches("input, select, textarea");
  if (typing && event.key !== "Escape") return;
  const known = KEYS.get(event.key === "Escape" ? "Esc" : event.key);
  if (known && known.act(event) !== false) event.preventDefault();
}

/** Show a page: hand its first pack to what shows it, once all of the script is there. */
async function open(show) {
  await null;
  try {
    await show(await unpack(0));
  } catch (error) {
    const old = typeof DecompressionStream === "undefined";
    main.replaceChildren(
      el(
        "p.problem",
        old
          ? "This page needs a browser of 2023 or later."
          : `This page cannot be shown: ${error.message}`,
      ),
    );
    // A problem is the user's to mend; anything else is a fault of ours.
    if (!old && error.name !== "Problem") throw error;
  }
}

useTheme(stored("theme") in THEMES ? stored("theme") : "auto");
document.getElementById("theme").addEventListener("click", (event) => {
  const names = Object.keys(THEMES);
  const next = names[(names.indexOf(event.currentTarget.dataset.theme) + 1) % names.length];
  stored("theme", next);
  useTheme(next);
});
document.getElementById("help").addEventListener("click", toggleHelp);
document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
document.addEventListener("keydown", pressed);
onKey("?", "this help", toggleHelp);
