// Experiments on the list of functions: a panel an axis, in it a curve with its band per model.

const MEASURES = [
  ["passed", "Passed"],
  ["function_right", "Correct functions"],
  ["arguments_right", "Correct arguments"],
];
const PLOT = { width: 620, height: 300, left: 46, right: 14, top: 12, bottom: 44 };
const MARKS = [0, 0.25, 0.5, 0.75, 1];

function showExperiments(found) {
  const names = found.models.map((model) => model.name);
  document.getElementById("heading").replaceChildren(el("span.run", names.join(", ")));
  main.replaceChildren(
    el(
      "section.named",
      { "aria-label": "Models" },
      el("h1", "Experiments on the list of functions"),
      found.models.map(modelLine),
    ),
    ...found.panels.map((panel) => panelCard(panel, names)),
  );
}

function modelLine(model, index) {
  return el(
    "p.legend-line",
    sample(index),
    ` ${model.name} `,
    el("small", `data ${model.dataset}, profile ${model.profile}`),
  );
}

function panelCard(panel, names) {
  return card(
    words(panel.axis),
    panel.at && el("p.quiet", `at ${panel.at}`),
    el(
      "div.curves",
      MEASURES.map(([measure, title]) =>
        el("figure", el("figcaption", title), curves(panel, names, measure, title)),
      ),
    ),
    panel.runs.map((run, index) => run && figuresOf(panel, run, names[index])),
  );
}

/** Return a drawing of one measure over the levels. Its text alternative says it in words. */
function curves(panel, names, measure, title) {
  const across = PLOT.width - PLOT.left - PLOT.right;
  const step = panel.levels.length > 1 ? across / (panel.levels.length - 1) : 0;
  const x = (place) => PLOT.left + (step ? step * place : across / 2);
  const y = (share) => PLOT.height - PLOT.bottom - share * (PLOT.height - PLOT.top - PLOT.bottom);
  const spoken = panel.runs.map((run, index) => {
    if (!run) return "";
    const values = panel.levels.map((level) => {
      const share = run.levels[level]?.[measure];
      return share ? `${level} ${percent(share.value)}` : `${level} not run`;
    });
    return `${names[index]}: ${values.join(", ")}.`;
  });
  return drawn(
    "svg",
    {
      class: "curve",
      viewBox: `0 0 ${PLOT.width} ${PLOT.height}`,
      role: "img",
      "aria-label": visible(`${title} by ${panel.axis}. ${spoken.join(" ")}`).textContent,
    },
    MARKS.map((mark) => [
      drawn("line", {
        class: "ring",
        x1: PLOT.left,
        x2: PLOT.width - PLOT.right,
        y1: y(mark),
        y2: y(mark),
      }),
      drawn("text", { class: "mark", x: 4, y: y(mark) + 4 }, `${100 * mark}%`),
    ]),
    panel.levels.map((level, place) =>
      drawn(
        "text",
        { class: "axis", x: x(place), y: PLOT.height - 18, "text-anchor": "middle" },
        visible(level.length > 12 ? `${level.slice(0, 11)}…` : level),
      ),
    ),
    panel.runs.map((run, index) => run && oneCurve(panel, run, index, measure, x, y)).filter(Boolean),
  );
}

/** Return a model's band, line and dots; the line is broken where a level was not run. */
function oneCurve(panel, run, index, measure, x, y) {
  const points = panel.levels.map((level, place) => {
    const share = run.levels[level]?.[measure];
    return share ? { level, share, x: x(place), y: y(share.value) } : null;
  });
  const parts = [];
  for (let place = 1; place < points.length; place += 1) {
    const [from, to] = [points[place - 1], points[place]];
    if (!from || !to) continue;
    const [low, high] = [from.share.interval, to.share.interval];
    const corners = [
      [from.x, y(low[0])],
      [from.x, y(low[1])],
      [to.x, y(high[1])],
      [to.x, y(high[0])],
    ];
    parts.push(
      drawn("polygon", {
        class: "inside",
        points: corners.map((corner) => corner.map((at) => at.toFixed(1)).join(",")).join(" "),
      }),
      drawn("path", { d: `M${from.x.toFixed(1)},${from.y.toFixed(1)} L${to.x.toFixed(1)},${to.y.toFixed(1)}` }),
    );
  }
  const dots = points.filter(Boolean).map((point) => {
    const [low, high] = point.share.interval;
    const said = `${point.level}: ${percent(point.share.value)} (95% ${percent(low)} to ${percent(high)})`;
    const dot = { cx: point.x.toFixed(1), cy: point.y.toFixed(1), r: 4 };
    return drawn("circle", dot, drawn("title", {}, visible(said)));
  });
  return drawn("g", { class: `run-${index + 1}` }, parts, dots);
}

function figuresOf(panel, run, name) {
  const share = (found) => (found ? percent(found.value) : "–");
  const count = (value) => (isNothing(value) ? "–" : value.toLocaleString("en"));
  const points = (value) => `${value < 0 ? "−" : "+"}${fixed(Math.abs(100 * value), 1)}`;
  const columns = [
    "functions",
    "passed",
    "correct functions",
    "correct arguments",
    "distractors",
    "invented",
    "tokens in",
    "difference",
    "95%",
    "p, Holm",
  ];
  const row = (level) => {
    const found = run.levels[level];
    if (!found) return "";
    const { difference } = found;
    return el(
      "tr",
      el("th", { scope: "row" }, level),
      el("td.number", found.tools.toFixed(1)),
      MEASURES.map(([measure]) => el("td.number", share(found[measure]))),
      el("td.number", count(found.distractor_calls)),
      el("td.number", count(found.invented_functions + found.invented_parameters)),
      el("td.number", found.tokens_in === null ? "–" : found.tokens_in.toFixed(0)),
      difference
        ? [
            el("td.number", points(difference.value)),
            el("td.number", difference.interval.map(points).join(" to ")),
            el("td.number", difference.p_holm < 0.0001 ? "< 0.0001" : difference.p_holm.toFixed(4)),
          ]
        : [0, 1, 2].map(() => el("td.number", "")),
    );
  };
  return [
    el("h3", name),
    scrolling(
      `By ${panel.axis}: ${name}`,
      el(
        "table",
        el(
          "thead",
          el("tr", el("th", { scope: "col" }, panel.axis), columns.map((column) => el("th.number", { scope: "col" }, column))),
        ),
        el("tbody", panel.levels.map(row)),
      ),
    ),
    Object.entries(run.slopes).map(([measure, slope]) =>
      el(
        "p.quiet",
        `${measure}: ${points(slope.value)} points per doubling of the functions ` +
          `(95% ${slope.interval.map(points).join(" to ")})`,
      ),
    ),
    run.bias !== null && el("p.quiet", `position bias ${run.bias.toFixed(3)}`),
  ];
}

open(showExperiments);
