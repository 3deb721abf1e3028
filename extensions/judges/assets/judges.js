// The labels and votes of judge models: a column of episodes, a card, and a part of each episode.

COLUMNS.splice(COLUMNS.findIndex(({ name }) => name === "turns"), 0, {
  name: "judged",
  label: "Judged",
  there: (run) => (run.judges || []).length > 0,
  value: (row) => (row.judged || []).map((said) => (said ? said.label : "~")).join(),
  cell: (row) => row.judged.filter(Boolean).map((said) => [judgeBadge(said), " "]),
});
OVERVIEW_PARTS.push(
  (run) => run.judge_labels && card("Pass rate by judge model", run.judge_labels.map(judgeBar)),
);
EPISODE_PARTS.push(({ judged }) => (judged || []).map(judgedPart));

/** Return the label of a judge, and how many of its votes are for it. */
function judgeBadge({ judge, label, votes }) {
  const total = Object.values(votes).reduce((sum, count) => sum + count, 0);
  const look = { pass: "passed", fail: "failed", unsure: "error" }[label];
  const text = `${label} ${votes[label] || 0}/${total}`;
  return el("span", { class: `badge ${look}`, title: judge }, text);
}

/** Return a judge model's labels as a bar; unsure counts half in the rate, as in the command. */
function judgeBar([judge, counts]) {
  const shown = ["pass", "fail", "unsure"].map((label) => [label, counts[label] || 0]);
  const [passed, failed, unsure] = shown.map(([, count]) => count);
  const total = passed + failed + unsure;
  const look = { pass: "passed", fail: "failed", unsure: "error" };
  return el(
    "div.judge",
    el("p", judge, ": ", percent(total ? (passed + unsure / 2) / total : null)),
    el(
      "div.outcomes",
      shown
        .filter(([, count]) => count)
        .map(([label, count]) => el("span", { class: look[label], vars: { share: count } }, `${count} ${label}`)),
    ),
  );
}

/** Return what a judge said: its label, which is no verdict, and its reasons, a vote a line. */
function judgedPart(said) {
  const votes = said.said.map(({ label, why }) => el("li", el("strong", label), why && `: ${why}`));
  return el(
    "div.why.judged",
    el("p", "Judged by ", el("strong", said.judge), ": ", judgeBadge(said)),
    votes.length > 0 && el("details", el("summary", "Votes"), el("ol", votes)),
  );
}
