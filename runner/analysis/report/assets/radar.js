// A radar chart: one axis per group, one outline per run, gaps where a group was not run.

const SVG = "http://www.w3.org/2000/svg";
const CENTRE = { x: 300, y: 215 };
const RADIUS = 150;
const RINGS = [0.25, 0.5, 0.75, 1];
const MOST_RUNS = 5;

/**
 * Return a chart of groups, each with a name and one rate or null per run. Its text alternative is
 * what it shows, in words.
 */
function radar(groups, names) {
  const runs = names.slice(0, MOST_RUNS);
  return drawn(
    "svg",
    { class: "radar", viewBox: "0 0 600 430", role: "img", "aria-label": inWords(groups, runs) },
    RINGS.map((share) => ring(groups.length, share)),
    groups.map((group, axis) => spoke(group, axis, groups.length)),
    runs.map((name, run) => runOutline(groups, name, run)),
  );
}

/** Return an element of a drawing; what it holds is added as nodes or as plain text. */
function drawn(tag, properties, ...content) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(properties)) made.setAttribute(name, value);
  made.append(...content.flat(Infinity));
  return made;
}

function at(axis, axes, share) {
  const angle = (2 * Math.PI * axis) / axes - Math.PI / 2;
  return {
    x: CENTRE.x + RADIUS * share * Math.cos(angle),
    y: CENTRE.y + RADIUS * share * Math.sin(angle),
  };
}

const coordinates = ({ x, y }) => `${x.toFixed(1)},${y.toFixed(1)}`;

function ring(axes, share) {
  const corners = Array.from({ length: axes }, (_, axis) => coordinates(at(axis, axes, share)));
  const place = at(0, axes, share);
  return [
    drawn("polygon", { class: "ring", points: corners.join(" ") }),
    drawn("text", { class: "mark", x: place.x + 4, y: place.y - 3 }, `${100 * share}`),
  ];
}

function spoke({ name, rates }, axis, axes) {
  const [end, place] = [at(axis, axes, 1), at(axis, axes, 1.13)];
  const side = Math.abs(place.x - CENTRE.x) < 20 ? "middle" : place.x < CENTRE.x ? "end" : "start";
  const [kind, ...rest] = name.split(" ");
  const lines = [kind, rest.join(" "), rates.every(isNothing) && "not run"].filter(Boolean);
  const top = place.y - 15 * (lines.length - 1) * ((CENTRE.y - place.y) / RADIUS / 2 + 0.5) + 4;
  return [
    drawn("line", { class: "spoke", x1: CENTRE.x, y1: CENTRE.y, x2: end.x, y2: end.y }),
    drawn(
      "text",
      { class: "axis", "text-anchor": side },
      lines.map((line, number) =>
        drawn("tspan", { x: place.x.toFixed(1), y: (top + 15 * number).toFixed(1) }, line),
      ),
    ),
  ];
}

/** Return a run's outline: a line between neighbours that were both run, a dot at each value. */
function runOutline(groups, name, run) {
  const axes = groups.length;
  const points = groups.map(({ rates }, axis) => rates[run] && at(axis, axes, rates[run].value));
  const inside = points.every(Boolean)
    ? [drawn("polygon", { class: "inside", points: points.map(coordinates).join(" ") })]
    : [];
  const lines = points.map((from, axis) => {
    const to = points[(axis + 1) % axes];
    return from && to ? drawn("path", { d: `M${coordinates(from)} L${coordinates(to)}` }) : [];
  });
  const dots = points.map((point, axis) => {
    if (!point) return [];
    const said = `${name}, ${groups[axis].name}: ${percent(groups[axis].rates[run].value)}`;
    const dot = { cx: point.x.toFixed(1), cy: point.y.toFixed(1), r: 4 };
    return drawn("circle", dot, drawn("title", {}, said));
  });
  return drawn("g", { class: `run-${run + 1}` }, inside, lines, dots);
}

function inWords(groups, names) {
  const runs = names.map((name, run) => {
    const values = groups.map(({ name: group, rates }) =>
      rates[run] ? `${group} ${percent(rates[run].value)}` : `${group} not run`,
    );
    return `${name}: ${values.join(", ")}.`;
  });
  return `Radar chart of ${groups.length} groups. ${runs.join(" ")}`;
}

/** Return the sample of a run's line that stands beside its name. */
function sample(run) {
  if (run >= MOST_RUNS) return el("span.sample");
  const line = drawn("path", { d: "M2,7 L34,7" });
  const dot = drawn("circle", { cx: 18, cy: 7, r: 4 });
  const group = drawn("g", { class: `run-${run + 1}` }, line, dot);
  return drawn("svg", { class: "sample", viewBox: "0 0 36 14", "aria-hidden": "true" }, group);
}
