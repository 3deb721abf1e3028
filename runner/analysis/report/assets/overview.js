// A run at a glance: what it scored, why its episodes failed, what it took.

// Functions of extensions that return a card for a run, or nothing.
const OVERVIEW_PARTS = [];

/** Return the figures of a run; what is clicked there becomes a filter of the list. */
function overviewOf(run) {
  const { scores, causes, sub_reasons, turns_passed, trials, usage } = run.overview;
  const total = scores[scores.length - 1];
  const mended = "Score by category, as corrected";
  const published = run.mended ? "Score by category, as published" : "Score by category";
  return el(
    "section.overview",
    { "aria-label": "Overview" },
    headline(run, total),
    card(
      published,
      scoresTable(published, scores),
    ),
    run.overview.behaviour.length > 0 && card("Calls", behaviourTable(run.overview.behaviour)),
    run.mended &&
      card(
        mended,
        scoresTable(mended, run.mended.scores),
        el("p.quiet", `${run.mended.errata}.`),
      ),
    causes.length > 0 &&
      card(
        "Why episodes failed",
        bars(
          causes.map(([cause, count]) => [
            words(cause),
            count,
            filterLink({ cause }),
            run.meanings[cause],
          ]),
        ),
        el("p.quiet", sub_reasons.map(([names, count]) => `${names.map(words).join(", ")} ${count}`).join("; ")),
      ),
    turns_passed.length > 0 &&
      card(
        "Turns passed",
        histogram(turns_passed),
        legend(),
        el(
          "p.quiet",
          `${total.turns_passed.toLocaleString("en")} of ${plural(total.turns, "turn")} in all.`,
        ),
      ),
    trials.length > 0 && card("Repeated trials", trialsTable(trials)),
    run.breakdowns.map(breakdownCard),
    OVERVIEW_PARTS.map((part) => part(run)),
    usage && card("Usage", usageList(usage)),
    run.cards.map(([title, rows]) => card(title, scrolling(title, factsTable(rows)))),
  );
}

function factsTable(rows) {
  const row = ([label, text]) => el("tr", el("th", { scope: "row" }, label), el("td", text));
  return el("table", el("tbody", rows.map(row)));
}

function headline(run, total) {
  const { outcomes, disagreeing } = run.overview;
  const episodes = plural(run.rows.length, "episode");
  return el(
    "div.headline",
    el("h1", run.name),
    annotationForm(run, null) || tagsOf(run),
    el("p.big", total.rate === null ? "No score" : [percent(total.rate), el("small", " passed")]),
    el(run.overview.unfinished ? "p.problem" : "p.quiet", `${words(run.overview.headline)}.`),
    run.mended && el("p.quiet", mendedTotal(run.mended.scores)),
    outcomesBar(outcomes),
    el(
      "p.quiet",
      `${episodes} of ${plural(total.entries, "trajectory", "trajectories")}. `,
      `Data ${run.data}; profile ${run.profile}.`,
    ),
    outcomes.error > 0 &&
      el(
        "p.problem",
        `${outcomes.error} of ${episodes} ended in an error. `,
        total.rate === null ? "Too many errors for a score." : "Errors do not count.",
      ),
    disagreeing > 0 &&
      el(
        "p.problem",
        `${plural(disagreeing, "episode")} with a recorded outcome other than the one of executing the calls `,
        "again, which is shown here; turnwise verify shows what changed.",
      ),
    run.definition &&
      el(
        "details",
        el("summary", "Run settings"),
        el("pre", { tabindex: "0" }, JSON.stringify(run.definition, null, 2)),
      ),
  );
}

/** Return the scores of the parts of a run as bars. */
function breakdownCard({ title, parts }) {
  const row = ({ label, passed, judged }) =>
    el(
      "li",
      el("span.label", words(label)),
      el("span.bar", { vars: { share: judged ? passed / judged : 0 } }),
      el("span.count", `${percent(judged ? passed / judged : null)} of ${judged.toLocaleString("en")}`),
    );
  return card(title, el("ul.bars.shares", parts.map(row)));
}

function mendedTotal(scores) {
  const total = scores[scores.length - 1];
  if (!total || total.rate === null) return "No score after correction by errata";
  return `Corrected by errata: ${percent(total.rate)}, ${interval(total.interval)}`;
}

/** Return the address of the episodes that a figure counts, whatever the list was filtered by. */
function filterLink(filters) {
  const none = Object.fromEntries(FILTERS.map((name) => [name, ""]));
  return address({ ...OVERVIEW, filters: { ...none, ...filters } });
}

function outcomesBar(outcomes) {
  const shown = ["passed", "failed", "error"].filter((name) => outcomes[name]);
  return el(
    "div.outcomes",
    shown.map((name) =>
      el(
        "a",
        {
          class: name,
          href: filterLink({ outcome: name }),
          vars: { share: outcomes[name] },
        },
        `${outcomes[name].toLocaleString("en")} ${name}`,
      ),
    ),
  );
}

function behaviourTable(figures) {
  const share = (figure) => (figure.form === "acts" ? percent(figure.value[1]) : figureText(figure));
  const row = (figure) =>
    el(
      "tr",
      el("th", { scope: "row" }, words(figure.label)),
      el("td.number", figure.form === "acts" ? figure.value[0].toLocaleString("en") : ""),
      el("td.number", share(figure)),
      el("td.quiet", figure.of !== null && `of ${figure.of.toLocaleString("en")} ${figure.unit}`),
    );
  const head = heads(["figure", ["calls"], ["share"], "of"]);
  return scrolling("Calls", el("table.behaviour", head, el("tbody", figures.map(row))));
}

function scoresTable(title, scores) {
  const total = scores.length > 1 ? scores[scores.length - 1] : null;
  const labels = (scores[0]?.figures ?? []).map((figure) => figure.label);
  const table = el(
    "table.scores",
    numberedHead("category", ["score", "of 100%", "95% interval", "passed", ...labels]),
    el(
      "tbody",
      scores.map((score) =>
        el(
          "tr",
          { class: score === total ? "total" : null },
          el(
            "th",
            { scope: "row" },
            score === total
              ? score.name
              : el("a", { href: filterLink({ category: score.name }) }, score.name),
          ),
          el("td.number", percent(score.rate)),
          el(
            "td.range",
            score.interval &&
              el("span.track", {
                role: "presentation",
                vars: { low: score.interval[0], high: score.interval[1], rate: score.rate },
              }),
          ),
          el("td.number.quiet", score.interval && interval(score.interval)),
          el("td.number", `${score.passed}/${score.passed + score.failed}`),
          figureCells(score.figures),
        ),
      ),
    ),
  );
  return scrolling(title, table);
}

function bars(items) {
  const most = Math.max(...items.map(([, count]) => count));
  const bar = ([label, count, href, meaning]) =>
    el(
      "a.term",
      { href, "aria-description": meaning },
      el("span.label", label),
      el("span.bar", { vars: { share: count / most } }),
      el("span.count", count),
    );
  return el(
    "ul.bars",
    items.map((item) => el("li", bar(item))),
  );
}

function histogram(bins) {
  const most = Math.max(1, ...bins.map((bin) => bin.passed + bin.failed));
  return el(
    "div.histogram",
    bins.map((bin) =>
      el(
        "div.bin",
        { role: "img", "aria-label": binLabel(bin), title: binLabel(bin) },
        el("span.count", bin.passed + bin.failed || ""),
        el("span.passed", { vars: { share: bin.passed / most } }),
        el("span.failed", { vars: { share: bin.failed / most } }),
        el("span.label", bin.turns),
      ),
    ),
  );
}

function binLabel({ turns, failed, passed }) {
  return `${plural(turns, "turn")}: ${failed} failed next, ${passed} passed`;
}

function legend() {
  return el(
    "p.legend.quiet",
    el("span.failed"),
    "failed after this many turns ",
    el("span.passed"),
    "passed all turns",
  );
}

function trialsTable(trials) {
  return el(
    "table",
    heads([["k"], ["pass@k: any of k"], ["pass^k: all of k"]]),
    el(
      "tbody",
      trials.map((row) =>
        el(
          "tr",
          [row.k, percent(row.any), percent(row.all)].map((cell) => el("td.number", cell)),
        ),
      ),
    ),
  );
}

function usageList(usage) {
  const forms = { ...FORMS, seconds, dollars: (value) => `$${value.toFixed(4)}` };
  return el(
    "dl.facts",
    usage.map((figure) =>
      el("div", el("dt", figure.label), el("dd", figureText(figure, forms))),
    ),
  );
}

function seconds(value) {
  return value < 0.1 ? `${Math.round(1000 * value)} ms` : `${value.toFixed(value < 10 ? 2 : 1)} s`;
}
