// Texts of any length, and what is opened only when it is wanted.

const LINES = 14;
const CHARACTERS = 1500;

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
  return el("p.prose", text);
}

/** Return a text of any length; a long one shows its beginning until asked for all. */
function block(text) {
  const short = beginning(text);
  if (short === text) return el("pre", text);
  const shown = el("pre", short);
  const whole = `${plural(text.split("\n").length, "line")}, ${plural(text.length, "character")}`;
  const button = el("button.all", { type: "button", click: showAll }, `Show all: ${whole}`);
  function showAll() {
    shown.replaceChildren(visible(text));
    button.remove();
  }
  return [shown, button];
}

function beginning(text) {
  const lines = text.split("\n");
  const short = lines.length > LINES + 3 ? lines.slice(0, LINES).join("\n") : text;
  return short.length > CHARACTERS + 100 ? short.slice(0, CHARACTERS) : short;
}

/** Return the text of a JSON object with a line for every member of it, and no other change. */
function laidOut(text) {
  if (text.length < 70 || !/^[{[]/.test(text)) return text;
  let depth = 0;
  return text.replace(/"(?:[^"\\]|\\.)*"|\{\}|\[\]|[{}[\]]|, /g, (part) => {
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
