// The scores of each model's runs over time, with intervals: one line for each history.

const TREND = { wide: 900, high: 220, left: 44, right: 12, top: 12, bottom: 26 };
const MOST_LINES = 5;

/** Return the chart of the histories among runs; nothing if no run has a predecessor. */
function trendCard(runs) {
  const series = new Map();
  for (const run of runs.filter((each) => each.series !== null && each.score !== null && each.created)) {
    series.set(run.series, [...(series.get(run.series) || []), run]);
  }
  const lines = [...series.values()]
    .filter((each) => each.length > 1)
    .sort((one, other) => other.length - one.length)
    .slice(0, MOST_LINES);
  if (lines.length === 0) return null;
  const times = lines.flat().map(timeOf);
  const [first, last] = [Math.min(...times), Math.max(...times)];
  const { wide, high, left, right, top, bottom } = TREND;
  const x = (run) => left + ((timeOf(run) - first) / (last - first || 1)) * (wide - left - right - 20) + 10;
  const y = (share) => high - bottom - share * (high - top - bottom);
  const label = `Score over time: ${lines.map((runs) => nameOf(runs[0])).join("; ")}`;
  const chart = drawn(
    "svg",
    { viewBox: `0 0 ${wide} ${high}`, role: "img", "aria-label": label },
    ...[0, 0.25, 0.5, 0.75, 1].flatMap((share) => [
      drawn("line", { x1: left, x2: wide - right, y1: y(share), y2: y(share) }),
      written(left - 6, y(share) + 4, percentOf(share), "end"),
    ]),
    written(left, high - 6, dayOf(first), "start"),
    ...(last > first ? [written(wide - right, high - 6, dayOf(last), "end")] : []),
    ...lines.flatMap((runs, at) => trendLine(runs, at + 1, x, y)),
  );
  return card("Score over time", el("div.trend", scrolling("Score over time", chart)), trendLegend(lines));
}

function trendLine(runs, number, x, y) {
  const sorted = [...runs].sort((one, other) => timeOf(one) - timeOf(other));
  const points = sorted.map((run) => `${x(run).toFixed(1)},${y(run.score).toFixed(1)}`).join(" ");
  return [
    drawn("polyline", { points, class: `line-${number}` }),
    ...sorted.flatMap((run) => {
      const [low, high] = run.interval;
      const at = { x1: x(run), x2: x(run), y1: y(low), y2: y(high) };
      const title = drawn("title", {});
      const said = `${percent(run.score)}, 95% ${(100 * low).toFixed(1)} – ${percent(high)}`;
      title.textContent = `${run.name}, ${run.created.replace("T", " ")}: ${said}`;
      const dot = drawn("circle", { cx: x(run), cy: y(run.score), r: 4, class: `line-${number}` }, title);
      return [drawn("line", { ...at, class: `range line-${number}` }), dot];
    }),
  ];
}

function trendLegend(lines) {
  const entry = (runs, at) => el("li", el(`span.sample.line-${at + 1}`), nameOf(runs[0]));
  return el("ul.trend-legend", lines.map(entry));
}

function nameOf(run) {
  return [run.model, dataOf(run), run.profile].filter(Boolean).join(", ");
}

function timeOf(run) {
  return Date.parse(run.created);
}

function dayOf(time) {
  return new Date(time).toISOString().slice(0, 10);
}

function percentOf(share) {
  return `${Math.round(100 * share)}%`;
}

function written(x, y, text, anchor) {
  const node = drawn("text", { x, y, "text-anchor": anchor });
  node.textContent = text;
  return node;
}
