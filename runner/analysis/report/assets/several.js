// Several runs of the same entries: each against the first, and where they are not alike.

const RUN_LETTERS = "ABCDEFGHIJ";

function showSeveral(found) {
  const names = found.runs.map((run) => run.name);
  const { scores } = found;
  const rates = Object.entries(found.categories);
  if (rates.length > 1) rates.push(["all", scores]);
  const causes = found.causes.map(({ cause, shares }) => [words(cause), shares]);
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
    sharesCard("Score by category", "category", rates, scores),
    causes.length > 0 ? sharesCard("Why episodes failed", "cause", causes, scores) : "",
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

function sharesCard(title, kind, rows, scores) {
  const line = ([name, shares]) =>
    el("tr", el("th", { scope: "row" }, name), shares.map((share) => el("td.number", percent(share))));
  return card(title, inScroll(title, [kind, ...lettersOf(scores)], rows.map(line)));
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
