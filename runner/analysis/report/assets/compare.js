// Two runs of the same entries: what it comes to, by category, by cause, and who flips.

const LABELS = ["A", "B"];

// The runs' names where the page is served: entries then lead to their episodes.
let servedRuns = null;

function showComparison(found) {
  servedRuns = found.served || null;
  if (servedRuns) showNotes(found.notes);
  if (found.flips) return showSeveral(found);
  const names = found.runs.map((run) => run.name);
  document.getElementById("heading").replaceChildren(el("span.run", names.join(" and ")));
  const measured = Object.entries(found.measures);
  main.replaceChildren(
    summary(found, names),
    card("Difference by category", categoriesTable(found)),
    found.mended
      ? card(
          `Difference by category, corrected by ${found.mended.errata}`,
          categoriesTable(found.mended),
        )
      : "",
    measured.length > 0 ? card("Further measures", differencesTable("measure", measured)) : "",
    ...found.cards.map(figureCard),
    found.causes.length > 0 ? card("Why episodes failed", causesTable(found.causes)) : "",
    flipsFilter(),
    flips("A passes more often", found.lost, "B"),
    flips("B passes more often", found.gained, "A"),
  );
  return undefined;
}

/** Return an entry's id; where the page is served it leads to its runs side by side. */
function entryLink(id) {
  if (!servedRuns || servedRuns.length > 5) return id;
  const wanted = servedRuns.flatMap((run) => [["run", run], ["trial", 0]]);
  return el("a", { href: pathTo("align", [["id", id], ...wanted]), title: "side by side" }, id);
}

/** Return what stands for an episode; where the page is served it leads there. */
function episodeLink(shown, at, id) {
  return servedRuns ? el("a", { href: episodePath(servedRuns[at], id, 0) }, shown) : shown;
}

function summary(found, names) {
  const [finding, ...reasons] = found.conclusion;
  return el(
    "section.versus",
    { "aria-label": "Overview" },
    el("h1", names.map((name, side) => el("span.runner", el("b", LABELS[side]), " ", name))),
    found.unfinished.map((part, side) => part && el("p.problem", `${LABELS[side]}: score ${part}.`)),
    el(found.overall.is_noise ? "p.finding.noise" : "p.finding", finding),
    [...reasons, about(found)].map((text) => el("p.quiet", text)),
  );
}

function about({ overall, trials, left_out: out, dataset, profile }) {
  const reasons = [
    [out.only_first, "only in A"],
    [out.only_second, "only in B"],
    [out.errors, "without a judged trial"],
  ];
  const left = reasons
    .filter(([count]) => count)
    .map(([count, why]) => `${count.toLocaleString("en")} ${why}`);
  const tried = trials.every((count) => count === 1)
    ? "one trial"
    : `up to ${trials[0]} (A) and ${trials[1]} (B) trials`;
  return [
    `${plural(overall.entries, "entry", "entries")} in both runs, ${tried} of each.`,
    left.length > 0 ? `Left out: ${left.join(", ")}.` : "",
    `Data ${dataset.name} ${dataset.version}, sha256 ${dataset.sha256.slice(0, 12)};`,
    `profile ${profile}.`,
  ].join(" ");
}

function categoriesTable({ categories, overall }) {
  const rows = Object.entries(categories);
  if (rows.length > 1) rows.push(["all", overall]);
  return differencesTable("category", rows, "better");
}

function differencesTable(heading, rows, more = "higher") {
  const widest = Math.max(...rows.flatMap(([, row]) => row.interval.map(Math.abs)));
  const columns = [heading, ["entries"], ["A"], ["B"], ["B minus A"], "95% interval"];
  return inScroll(
    `Difference by ${heading}`,
    [...columns, [`A ${more}`], [`B ${more}`], ["p"]],
    rows.map(([name, row]) => differenceRow(name, row, widest)),
    "differences",
  );
}

function inScroll(label, columns, rows, kind = "plain") {
  return scrolling(label, el(`table.${kind}`, heads(columns), el("tbody", rows)));
}

function differenceRow(name, row, widest) {
  const place = (share) => (share / widest + 1) / 2;
  const [low, high] = row.interval;
  const track = { low: place(low), high: place(high), rate: place(row.difference) };
  return el(
    "tr",
    { class: name === "all" && "total" },
    el("th", { scope: "row" }, name),
    el("td.number", row.entries.toLocaleString("en")),
    el("td.number", percent(row.first)),
    el("td.number", percent(row.second)),
    el("td.number", points(row.difference)),
    el(
      "td.range",
      el("span.track.middle", { role: "presentation", vars: track }),
      el("span", `${points(low)} to ${points(high)}`),
    ),
    el("td.number", row.worse),
    el("td.number", row.better),
    el(row.is_noise ? "td.number.quiet" : "td.number", chance(row.p_value)),
  );
}

function causesTable(causes) {
  const most = Math.max(...causes.flatMap((row) => row.shares));
  const bar = (share, side) =>
    el(
      "td.pair",
      share > 0 && el(`span.bar.${side}`, { vars: { share: share / most } }),
      percent(share),
    );
  const row = ({ cause, shares: [first, second], p_value: p }) =>
    el(
      "tr",
      el("th", { scope: "row" }, words(cause)),
      bar(first, "first"),
      bar(second, "second"),
      el("td.number", points(second - first)),
      el("td.number", chance(p)),
    );
  return inScroll("Why episodes failed", ["cause", "A", "B", ["B minus A"], ["p"]], causes.map(row));
}

function flips(title, entries, worse) {
  return el(
    "section.flips",
    { "aria-label": title },
    el("h2", `${title}: `, el("span.count", entries.length)),
    entries.length > 0 &&
      inScroll(title, ["entry", "A", "B", `why ${worse} failed`], entries.map(flip), "episodes"),
  );
}

function flip({ id, category, first, second, diagnosis }) {
  const why = diagnosis ? [diagnosis.sentence, words(diagnosis.cause)] : [];
  return el(
    "tr",
    { "data-text": [id, category, ...why].join("\n").toLowerCase() },
    el("td.id", entryLink(id), el("small", ` ${category}`)),
    el("td", { "data-label": "A" }, episodeLink(badgeOf(first), 0, id)),
    el("td", { "data-label": "B" }, episodeLink(badgeOf(second), 1, id)),
    el("td.cause", diagnosis && diagnosis.sentence),
  );
}

function badgeOf({ passed, trials }) {
  const result = passed === trials ? "passed" : passed ? "error" : "failed";
  return el(`span.badge.${result}`, trials === 1 ? result : `${passed} of ${trials}`);
}

/** Return a field that narrows the entries that flip. */
function flipsFilter() {
  const label = "Filter entries by id, category or cause";
  const field = el("input", {
    type: "search",
    placeholder: label,
    "aria-label": label,
    input: () => narrow(field.value),
  });
  onKey("/", "filter the entries", () => field.focus());
  onKey("Esc", "show all entries", () => {
    field.value = "";
    field.blur();
    narrow("");
  });
  return el("div.filters", field);
}

function narrow(text) {
  const wanted = text.trim().toLowerCase();
  for (const section of main.querySelectorAll(".flips")) {
    const rows = [...section.querySelectorAll("tbody tr")];
    for (const row of rows) row.hidden = !row.dataset.text.includes(wanted);
    section.querySelector(".count").textContent = rows.filter((row) => !row.hidden).length;
  }
  say(`${main.querySelectorAll(".flips tbody tr:not([hidden])").length} entries shown`);
}

function points(share) {
  return `${share > 0 ? "+" : ""}${fixed(100 * share, 1)}`.replace("-", "−");
}

function chance(p) {
  return p < 0.0001 ? "< 0.0001" : fixed(p, 4);
}

open(showComparison);
