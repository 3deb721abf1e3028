// States and their differences: what changed, and what is expected against what is there.

const NUMBER = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/;

/** Return a table of differences: where, what is expected, and what is there instead. */
function expectedTable(differences, here) {
  return el(
    "table.expected",
    el(
      "thead",
      el(
        "tr",
        el("th", { scope: "col" }, "Place in the state"),
        el("th", { scope: "col" }, "Expected"),
        el("th", { scope: "col" }, here),
      ),
    ),
    el(
      "tbody",
      differences.map(([path, expected, actual]) => {
        const [left, right] = apart(expected, actual);
        return el(
          "tr",
          el("th", { scope: "row" }, pathOf(path)),
          el("td.good", { "data-label": "Expected" }, valueOf(expected, left)),
          el("td.bad", { "data-label": here }, valueOf(actual, right)),
        );
      }),
    ),
  );
}

/** Return a list of changes: where, what was there, and what is there now. */
function changesList(changes) {
  return el(
    "ul.changes",
    { "aria-label": "Changes of the state" },
    changes.map(([path, before, after]) => {
      const [was, is] = apart(before, after);
      return el(
        "li",
        el("span.path", pathOf(path)),
        valueOf(before, was, "was"),
        el("span.arrow", { "aria-label": "became" }, "→"),
        valueOf(after, is, "is"),
      );
    }),
  );
}

/** Return a value of any length, and what of it is marked. */
function valueOf(text, shown = text, kind = "whole") {
  return folded(el(`span.${kind}`, shown), text);
}

/** Return a path in which the browser may break the line. */
function pathOf(path) {
  return path.split(/(?=[.[])/).map((part) => [part, el("wbr")]);
}

/** Return two texts as nodes; in long ones that are much alike, what differs is marked. */
function apart(one, other) {
  if (one === "nothing" || other === "nothing")
    return [one, other].map((text) => (text === "nothing" ? el("i.quiet", text) : text));
  const shorter = Math.min(one.length, other.length);
  if (shorter < 24) return [one, other];
  let start = 0;
  while (start < shorter && one[start] === other[start]) start += 1;
  let end = 0;
  while (end < shorter - start && one[one.length - 1 - end] === other[other.length - 1 - end])
    end += 1;
  if (2 * (start + end) < shorter) return [one, other];
  return [one, other].map((text) => [
    text.slice(0, start),
    el("mark", text.slice(start, text.length - end)),
    text.slice(text.length - end),
  ]);
}

/** Return a state into which what changed was put. */
function merged(state, changed) {
  const next = new Map(state);
  for (const [backend, fields] of Object.entries(changed)) {
    next.set(backend, new Map([...(state.get(backend) || []), ...Object.entries(fields)]));
  }
  return next;
}

/** Return a whole state, open where it changed or is not as expected. */
function stateTree({ before, now, expected }) {
  const backends = [...now].map(([backend, fields]) => {
    const parts = [...fields].map(([field, value]) =>
      branch(
        field,
        value,
        (before.get(backend) || new Map()).get(field),
        (expected.get(backend) || new Map()).get(field),
        field.startsWith("_"),
      ),
    );
    return group(backend, parts);
  });
  return el(
    "div.tree",
    backends.map((part) => part.node),
    el(
      "p.quiet",
      el("span.changed", "changed by this step"),
      " ",
      el("span.differs", "differs from the ground truth at the end of the turn"),
    ),
  );
}

const isTree = (value) => value !== null && typeof value === "object";
const own = (value, key) => (isTree(value) && Object.hasOwn(value, key) ? value[key] : undefined);

/** Tell whether values are equal as the checker has it: 1 is 1.0, and names have no order. */
function isEqual(one, other) {
  if (!isTree(one) || !isTree(other)) return one === other || isSameNumber(one, other);
  const names = Object.keys(one);
  const isAlike = Array.isArray(one) === Array.isArray(other);
  if (!isAlike || names.length !== Object.keys(other).length) return false;
  return names.every((name) => Object.hasOwn(other, name) && isEqual(one[name], other[name]));
}

function isSameNumber(one, other) {
  return NUMBER.test(one) && NUMBER.test(other) && Number(one) === Number(other);
}

/** Return one value of a state by its name: a leaf, or what can be opened. */
function branch(name, value, before, expected, aside = false) {
  const differs = !aside && !isEqual(value, expected);
  const wanted = differs && el("span.wanted", " expected ", written(expected));
  if (isTree(value)) {
    const alone = aside || !isTree(expected);
    const gone = alone ? [] : Object.keys(expected).filter((key) => !Object.hasOwn(value, key));
    const parts = Object.keys(value).map((key) =>
      branch(key, value[key], own(before, key), own(expected, key), alone),
    );
    return group(
      name,
      [...parts, ...gone.map((key) => branch(key, undefined, undefined, expected[key]))],
      !isEqual(value, before),
      differs,
      alone && wanted,
    );
  }
  const changed = !isEqual(value, before);
  const node = el(
    "div",
    {
      class: `leaf${changed ? " changed" : ""}${differs ? " differs" : ""}${aside ? " aside" : ""}`,
    },
    el("span.name", name),
    " ",
    valueOf(written(value), written(value), "value"),
    wanted,
  );
  return { node, changed, differs };
}

/** Return a value as Python writes it, which its leaves are already. */
function written(value) {
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return `[${value.map(written).join(", ")}]`;
  if (!isTree(value)) return value;
  const members = Object.entries(value).map(([key, member]) => `${key}: ${written(member)}`);
  return `{${members.join(", ")}}`;
}

function group(
  name,
  parts,
  changed = parts.some((part) => part.changed),
  differs = parts.some((part) => part.differs),
  wanted = null,
) {
  const marks = `${changed ? " changed" : ""}${differs ? " differs" : ""}`;
  const node = el(
    "details",
    { class: `branch${marks}`, open: changed || differs },
    el("summary", el("span.name", name), " ", el("span.members", plural(parts.length, "member")), wanted),
    parts.map((part) => part.node),
  );
  return { node, changed, differs };
}
