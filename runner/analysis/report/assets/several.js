// Several runs of the same entries: each against the first, and where they are not alike.

const RUN_LETTERS = "ABCDEFGHIJ";

function showSeveral(found) {
  const names = found.runs.map((run) => run.name);
  document.getElementById("heading").replaceChildren(el("span.run", `${names.length} runs`));
  main.replaceChildren(
    el(
      "section.versus",
      { "aria-label": "Overview" },
      el("h1", names.map((name, at) => el("span.runner", el("b", RUN_LETTERS[at]), " ", name))),
      el("p.quiet", aboutSeveral(found)),
    ),
    card(
      "Each compared with A",
      againstTable(found),
      el("p.quiet", `p, Holm: corrected for ${plural(found.against.length, "comparison")}.`),
    ),
    card("Score by category", ratesTable(found)),
    found.causes.length > 0 ? card("Why episodes failed", countsTable(found)) : "",
    flipsFilter(),
    severalFlips(found),
  );
}

function aboutSeveral({ entries, left_out: out, unjudged, dataset, profile }) {
  const left = out
    .map((count, at) => [count, `of ${RUN_LETTERS[at]} that are not in all runs`])
    .concat([[unjudged, "without a judged trial"]])
    .filter(([count]) => count)
    .map(([count, why]) => `${count.toLocaleString("en")} ${why}`);
  return [
    `${plural(entries, "entry", "entries")} in all runs.`,
    left.length > 0 ? `Left out: ${left.join(", ")}.` : "",
    `Data ${dataset.name} ${dataset.version}, sha256 ${dataset.sha256.slice(0, 12)}; profile ${profile}.`,
  ].join(" ");
}

function againstTable({ scores, against }) {
  const rows = [null, ...against].map((row, at) =>
    el(
      "tr",
      el("th", { scope: "row" }, RUN_LETTERS[at]),
      el("td.number", percent(scores[at])),
      row === null
        ? el("td.number.quiet", { colspan: 6 }, "the first")
        : [
            el("td.number", points(row.difference)),
            el("td.number", `${points(row.interval[0])} to ${points(row.interval[1])}`),
            el("td.number", row.worse),
            el("td.number", row.better),
            el("td.number", chance(row.p_value)),
            el(row.corrected < 0.05 ? "td.number" : "td.number.quiet", chance(row.corrected)),
          ],
    ),
  );
  const columns = ["run", ["score"], ["minus A"], ["95% interval"], ["A better"], ["run better"]];
  return inScroll("Each compared with A", [...columns, ["p"], ["p, Holm"]], rows);
}

function ratesTable({ categories, scores }) {
  const rows = Object.entries(categories);
  if (rows.length > 1) rows.push(["all", scores]);
  const line = ([name, rates]) =>
    el("tr", el("th", { scope: "row" }, name), rates.map((rate) => el("td.number", percent(rate))));
  return inScroll("Score by category", ["category", ...lettersOf(scores)], rows.map(line));
}

function countsTable({ causes, scores }) {
  const line = ({ cause, runs: counts }) =>
    el("tr", el("th", { scope: "row" }, words(cause)), counts.map((count) => el("td.number", count)));
  return inScroll("Why episodes failed", ["cause", ...lettersOf(scores)], causes.map(line));
}

function lettersOf(scores) {
  return scores.map((_, at) => [RUN_LETTERS[at]]);
}

function severalFlips({ flips: entries, scores }) {
  const columns = ["entry", ...scores.map((_, at) => RUN_LETTERS[at])];
  return el(
    "section.flips",
    { "aria-label": "Entries with different results" },
    el("h2", "Entries with different results: ", el("span.count", entries.length)),
    entries.length > 0 &&
      inScroll("Entries with different results", columns, entries.map(severalFlip), "episodes.matrix"),
  );
}

function severalFlip({ id, category, runs: trials }) {
  const whys = trials.map(({ diagnosis }) => (diagnosis ? diagnosis.cause : ""));
  const text = [id, category, ...whys, ...whys.map((why) => why && words(why))];
  return el(
    "tr",
    { "data-text": text.join("\n").toLowerCase() },
    el("td.id", entryLink(id), el("small", ` ${category}`)),
    trials.map((each, at) =>
      el(
        "td",
        { "data-label": RUN_LETTERS[at] },
        episodeLink(badgeOf(each), at, id),
        each.diagnosis &&
          el("small.detail", { title: each.diagnosis.sentence }, words(each.diagnosis.cause)),
      ),
    ),
  );
}
