// What runs scored, side by side, and what their requests took.

function showScores(found) {
  const names = found.runs.map((run) => run.name);
  document.getElementById("heading").replaceChildren(el("span.run", names.join(", ")));
  main.replaceChildren(
    el("section.named", { "aria-label": "Runs" }, el("h1", "Scores"), found.runs.map(runLine)),
    ...groupCards(found.groups, names),
    found.runs.some((run) => run.told)
      ? card("What answers told", toldTable(found.runs.map((run) => run.told)))
      : "",
    actsCard(found.runs),
    found.runs.some((run) => run.requests) ? card("Requests", requestsTable(found.runs)) : "",
  );
}

// What is counted whether an episode passes or not: how often, and in what share of episodes.
function actsCard(runs) {
  const columns = [...new Set(runs.flatMap((run) => Object.keys(run.acts)))];
  if (columns.length === 0) return "";
  const row = (run, index) =>
    el(
      "tr",
      el("th", { scope: "row" }, index + 1),
      columns.map((name) => el("td.number", run.acts[name] ?? "–")),
    );
  return card(
    "Made up, and done for good",
    scrolling(
      "Made up, and done for good",
      el("table", numberedHead("run", columns), el("tbody", runs.map(row))),
    ),
  );
}

function runLine(run, index) {
  return el(
    "p.legend-line",
    sample(index),
    el("b", `${index + 1}`),
    ` ${run.name} `,
    el("small", `${plural(run.episodes, "episode")}, profile ${run.profile}`),
    run.errors > 0 && el("small", `; ${plural(run.errors, "error")} left out`),
  );
}

function requestsTable(runs) {
  const columns = [
    "requests",
    "cache reads",
    "cache writes",
    "$ per 1,000",
    "mean s",
    "deviation",
    "median",
    "95th percentile",
  ];
  const timed = runs.some((run) => run.seconds_per_entry !== null);
  if (timed) columns.push("s per entry", "$ machine, clock", "$ machine, latencies");
  const tokens = (value) => (value === null ? "–" : value.toLocaleString("en"));
  const seconds = (value) => value.toFixed(3);
  const dollars = (value) => (value === null ? "unknown" : value.toFixed(4));
  const row = (run, index) =>
    run.requests === null
      ? ""
      : el(
          "tr",
          el("th", { scope: "row" }, index + 1),
          el("td.number", run.requests.toLocaleString("en")),
          el("td.number", tokens(run.cached_tokens)),
          el("td.number", tokens(run.written_tokens)),
          el("td.number", dollars(run.cost_per_1000_requests)),
          (run.latency
            ? [run.latency.mean, run.latency.deviation, run.latency.p50, run.latency.p95]
            : ["", "", "", ""]
          ).map((value) => el("td.number", value === "" ? "" : seconds(value))),
          timed &&
            [run.seconds_per_entry, run.gpu_cost, run.gpu_cost_by_latency].map((value) =>
              el("td.number", dollars(value)),
            ),
        );
  return scrolling(
    "Requests",
    el("table", numberedHead("run", columns), el("tbody", runs.map(row))),
  );
}

open(showScores);
