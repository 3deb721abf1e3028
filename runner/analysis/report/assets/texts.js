// Texts of any length, and what is opened only when it is wanted.

const LINES = 20;
const CHARACTERS = 2000;

function json(value) {
  return block(JSON.stringify(value, null, 2));
}

/** Return what can be opened, and is made only then. */
function lazily(title, make) {
  const node = el("details", el("summary", title));
  node.addEventListener(
    "toggle",
    async () => {
      const content = await make();
      node.append(...[content].flat(Infinity));
    },
    { once: true },
  );
  return node;
}

function prose(text) {
  return folded(el("p.prose", text), text);
}

/** Return a text as it is. */
function block(text) {
  return folded(el("pre", text), text);
}

/** Return what shows a text, of which a long one shows its first lines until asked for all. */
function folded(node, text) {
  const lines = text.split("\n").length;
  if (lines <= LINES + 3 && text.length <= CHARACTERS) return node;
  const whole = `${plural(lines, "line")}, ${plural(text.length, "character")}`;
  const button = el("button.all", { type: "button", click: showAll }, `Show all: ${whole}`);
  function showAll() {
    node.classList.remove("folded");
    button.remove();
  }
  node.classList.add("folded");
  return [node, button];
}

/** Return the text of a JSON object with a line for every member of it, and no other change. */
function laidOut(text) {
  if (text.length < 70 || !/^[{[]/.test(text)) return text;
  let depth = 0;
  return text.replace(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\{\}|\[\]|[{}[\]]|, /g, (part) => {
    if (part === "{" || part === "[") {
      depth += 1;
      return depth <= 2 ? `${part}${newLine(depth)}` : part;
    }
    if (part === "}" || part === "]") {
      depth -= 1;
      return depth < 2 ? `${newLine(depth)}${part}` : part;
    }
    return part === ", " && depth <= 2 ? `,${newLine(depth)}` : part;
  });
}

function newLine(depth) {
  return `\n${"  ".repeat(Math.max(depth, 0))}`;
}

/** Return buttons that put texts on the clipboard, by what they are called. */
function copies(texts) {
  return el(
    "span.copies",
    Object.entries(texts).map(([name, text]) => {
      const button = el("button.copy", { type: "button", click: copy }, `Copy ${name}`);
      async function copy() {
        await toClipboard(text);
        button.textContent = "Copied";
        say(`Copied: ${name}`);
        button.addEventListener("blur", () => button.replaceChildren(`Copy ${name}`), {
          once: true,
        });
      }
      return button;
    }),
  );
}

async function toClipboard(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  // A page that is not from a safe place has no clipboard but this one.
  const area = el("textarea", { class: "aside" });
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  return area.remove();
}

/** Return a text as one word of a shell's command. */
function shellWord(text) {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Return what says more of itself under the pointer and when it has the focus. */
function term(text, meaning) {
  if (!meaning) return text;
  return el("span.term", { tabindex: "0", "aria-description": meaning }, text);
}

/** Return the words of a search; those between quotes are one. */
function wordsOf(query) {
  const found = query.toLowerCase().matchAll(/"([^"]+)"|\S+/g);
  return [...found].map(([whole, quoted]) => quoted || whole);
}

/** Mark what was searched for, where the browser can do so without touching the page. */
function highlight(node, query) {
  if (!("highlights" in CSS)) return;
  CSS.highlights.delete("found");
  const searched = wordsOf(query).filter((word) => word.length > 1);
  if (searched.length === 0) return;
  const ranges = [];
  const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.data.toLowerCase();
    for (const word of searched) {
      for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
        const range = new Range();
        range.setStart(walker.currentNode, at);
        range.setEnd(walker.currentNode, Math.min(at + word.length, walker.currentNode.length));
        ranges.push(range);
      }
    }
  }
  CSS.highlights.set("found", new Highlight(...ranges));
}
