// BFCL's table: the nine classic groups as a chart and in figures, all groups with intervals.

/** Return the cards on groups: the chart, where one of the classic nine was run, and the table. */
function groupCards(groups, names) {
  const charted = groups.classic.some(({ rates }) => rates.some(Boolean));
  return [
    charted ? chartCard(groups.classic, names) : "",
    card("By group", groupTable(groups), groups.notes.map((text) => el("p.quiet", text))),
  ];
}

function chartCard(classic, names) {
  return card(
    "The nine classic groups",
    el("div.chart", radar(classic, names), scrolling("The nine classic groups", classicTable(classic, names))),
    names.length > MOST_RUNS && el("p.quiet", `The chart shows the first ${MOST_RUNS} runs.`),
  );
}

function classicTable(classic, names) {
  const row = ({ name, rates }) => el("tr", el("th", { scope: "row" }, name), rates.map(scored));
  const numbers = names.map((_, run) => (names.length > 1 ? run + 1 : "score"));
  return el("table.groups", numberedHead("group", numbers), el("tbody", classic.map(row)));
}

function groupTable({ fields, rows }) {
  const columns = fields.flatMap((hasField, index) => [
    fields.length > 1 ? `${index + 1}` : "score",
    "95%",
    "entries",
    ...(hasField ? ["BFCL's"] : []),
  ]);
  const cells = (row) =>
    fields.map((hasField, index) => [
      scored(row.rates[index]),
      margin(row.rates[index]),
      el("td.number.quiet", row.rates[index] && row.rates[index].entries.toLocaleString("en")),
      hasField && el("td.number.quiet", percent(row.field[index])),
    ]);
  const line = (row) =>
    el(
      "tr",
      { class: row.depth === 0 && "total" },
      el("th", { scope: "row", vars: { depth: row.depth } }, row.name),
      cells(row),
    );
  return scrolling(
    "All groups",
    el("table.groups", numberedHead("group", columns), el("tbody", rows.map(line))),
  );
}

function scored(rate) {
  return rate ? el("td.number", percent(rate.value)) : el("td.number.quiet", "not run");
}

function margin(rate) {
  if (!rate) return el("td");
  return el("td.number.quiet", interval(rate.interval));
}
