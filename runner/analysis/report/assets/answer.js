// The one answer of a single turn: every call of the model's beside the one that was expected.

/** Return what can be walked through: the calls, of which those that are wrong are off. */
function callsOf(data) {
  return data.pairs.map((pair, step) => ({ turn: 0, step, isOff: pair.problem !== null }));
}

/** Return all that there is to see of an answer. */
function answerPart(row, data, shared) {
  const mark = row.outcome === "passed" ? "passed" : "failed";
  return el(
    "section",
    { class: `turn answered ${mark}`, id: anchor(0, null), tabindex: "-1" },
    data.says.map(([role, text]) => el("div.says", el("h3", words(role)), prose(text))),
    data.aim && el("p.offers", data.aim),
    el("div.model", data.pairs.map(pairCard), wordsCard(row, data)),
    el(
      "footer",
      offered(data, shared),
      data.request && rawOf({ part: { request: data.request }, sent: 0 }, data, shared),
    ),
  );
}

function pairCard(pair, index) {
  const title = pair.call === null ? "Not called" : `Call ${index + 1}`;
  return el(
    "article",
    {
      class: `step${pair.problem === null ? "" : " divergent"}`,
      id: anchor(0, index),
      tabindex: "-1",
      "aria-label": title,
    },
    el(
      "header",
      el("h4", el("a", { href: address({ turn: 0, step: index }) }, title)),
      pair.problem === null
        ? el("span.agrees", pair.expected === null ? "✓ any call is right" : "✓ as expected")
        : el("span.problem", `✗ ${pair.problem}`),
    ),
    pair.call !== null && codeOf(pair),
    pair.result !== null &&
      el("div", { class: pair.ok ? "result" : "result refused" }, block(laidOut(pair.result))),
    pair.arguments.length > 0 && argumentsTable(pair.arguments),
    pair.expected !== null && pair.problem !== null && expectedCall(pair),
  );
}

/** Return the call that was expected, where the table of arguments does not say it already. */
function expectedCall(pair) {
  if (pair.arguments.length > 0 && pair.expected_result === null) return null;
  return el(
    "div.wanted-call",
    el("h5", "Expected"),
    codeOf({ call: pair.expected, name: pair.function }),
    pair.expected_result !== null && el("div.result", block(laidOut(pair.expected_result))),
  );
}

/** Return every parameter with what is right and what was given; what is wrong stands out. */
function argumentsTable(rows) {
  const names = ["Parameter", "Expected", "Given"];
  return el(
    "table.expected.arguments",
    el("thead", el("tr", names.map((name) => el("th", { scope: "col" }, name)))),
    el("tbody", rows.map(argumentRow)),
  );
}

function argumentRow([parameter, expected, given, problem]) {
  const isRight = problem === null;
  const [left, right] = isRight ? [expected, given] : apart(expected, given);
  return el(
    "tr",
    { class: isRight ? "right" : "wrong" },
    el("th", { scope: "row" }, parameter),
    el("td", { class: isRight ? "quiet" : "good", "data-label": "Expected" }, left),
    el(
      "td",
      { class: isRight ? "quiet" : "bad", "data-label": "Given" },
      right,
      problem !== null && el("span.says-why", problem),
    ),
  );
}

/** Return what the model said besides its calls, or that it was silent. */
function wordsCard(row, { pairs, answer, unreadable }) {
  const isSilent = !answer && !unreadable && pairs.every((pair) => pair.call === null);
  if (!answer && !unreadable && !isSilent) return null;
  return el(
    "article.step",
    { "aria-label": "Answer" },
    el("header", el("h4", "Answer")),
    answer && el("div.answer", prose(answer)),
    unreadable && el("p", { class: row.outcome }, `Unreadable as calls: ${unreadable}`),
    isSilent && el("p.quiet", "The model made no call and gave no text."),
  );
}

/** Return the functions that the model was given, shown when they are wanted. */
function offered(data, shared) {
  if (!data.documents.length) return el("p.quiet", "No functions offered.");
  return lazily(`${plural(data.documents.length, "function")} offered`, async () => {
    const { documents } = await shared();
    return data.documents.map((which) => json(documents[which]));
  });
}
