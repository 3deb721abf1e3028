// Runs of one entry side by side, step by step, and the step in which they part.

const LETTERS = "ABCDE";

function showAligned(found) {
  document.getElementById("heading").replaceChildren(el("span.run", found.id));
  const node = el(
    "div.aligned",
    el("h1", found.id),
    el("p.quiet", found.category),
    found.answers ? answersSideBySide(found) : turnsSideBySide(found),
  );
  main.replaceChildren(node);
  onKey("n", "next differing step", () => stepUnlike(1));
  onKey("p", "previous differing step", () => stepUnlike(-1));
}

function turnsSideBySide(found) {
  return [
    el("div.aligned-runs", found.runs.map((run, index) => runLegend(run, index, found))),
    el("p.parting", partingText(found)),
    found.turns.map((turn) => alignedTurn(turn, found)),
  ];
}

function runLegend({ name, trial, verdict, diagnosis }, index, found) {
  const result = verdict.valid ? "passed" : "failed";
  const cause = diagnosis && ` ${diagnosis.sentence}`;
  return el(
    "p",
    el("span.letter", LETTERS[index]),
    ledTo(found, index, name),
    " ",
    el(`span.badge.${result}`, result),
    cause && el("small", cause),
  );
}

/** Return a run's name; where the page is served it leads to the episode. */
function ledTo(found, index, name) {
  if (!found.served) return name;
  const { run, trial } = found.served[index];
  return el("a", { href: episodePath(run, found.id, trial) }, name);
}

function partingText({ parts }) {
  if (!parts) return "The runs are identical in every step.";
  return `The runs first differ in turn ${parts.turn + 1}, step ${parts.step + 1}.`;
}

function alignedTurn(turn, found) {
  const title = `turn-${turn.turn}`;
  return el(
    "section.turn",
    { "aria-labelledby": title },
    el("h2", { id: title }, `Turn ${turn.turn + 1}`),
    turn.messages.map(({ role, content }) => el("div.says", el("h3", words(role)), prose(content))),
    turn.steps.map((step) => alignedStep(turn, step, found)),
    endOf(turn, found),
  );
}

function alignedStep(turn, { step, alike, runs: cells }, { parts }) {
  const isParting = parts !== null && parts.turn === turn.turn && parts.step === step;
  const shown = alike ? cells.slice(0, 1) : cells;
  return el(
    `div.aligned-step.${alike ? "alike" : "unlike"}${isParting ? ".parts" : ""}`,
    {
      tabindex: alike ? null : "-1",
      role: "group",
      "aria-label": `Turn ${turn.turn + 1}, step ${step + 1}${alike ? "" : ", differs"}`,
      vars: { runs: cells.length },
    },
    el("span.where", `step ${step + 1}`, isParting && el("b", " first difference")),
    shown.map((calls, index) => cellOf(calls, LETTERS[index], isSameText(cells) && !alike)),
  );
}

function isSameText(cells) {
  return cells.every((calls) => JSON.stringify(calls) === JSON.stringify(cells[0]));
}

function cellOf(calls, letter, isOtherState) {
  return el(
    "div.cell",
    el("span.letter", letter),
    calls === null && el("span.quiet", "– nothing more in this turn"),
    (calls || []).map(({ call, ok, result }) => [
      el("pre.code", call),
      el("div", { class: ok ? "result" : "result refused" }, block(laidOut(result))),
    ]),
    isOtherState && el("p.quiet", "(another state)"),
  );
}

function endOf(turn, { runs: all }) {
  const cells = turn.ends.map((end, index) => endCell(end, LETTERS[index]));
  return el(
    "div.aligned-step",
    { vars: { runs: all.length } },
    el("span.where", "end"),
    cells,
  );
}

function endCell(end, letter) {
  if (end === null) return el("div.cell", el("span.letter", letter), el("span.quiet", "not reached"));
  const wrong = end.differences;
  return el(
    "div.cell",
    el("span.letter", letter),
    end.answer && block(end.answer),
    wrong.length === 0
      ? el("p.agrees", "✓ The state is the ground truth's.")
      : el("p.problem-line", `${plural(wrong.length, "difference")} of the state from the ground truth:`),
    wrong.length > 0 && differencesList(wrong),
  );
}

function differencesList(differences) {
  const line = ({ path, expected, actual }) =>
    el("li", `${path}: ${shortOf(actual)}, expected ${shortOf(expected)}`);
  const list = el("ul", differences.slice(0, 5).map(line));
  return differences.length <= 5
    ? list
    : [list, lazily(`${differences.length - 5} more`, () => el("ul", differences.slice(5).map(line)))];
}

function shortOf(value) {
  const text = value === undefined ? "nothing" : JSON.stringify(value);
  return text.length > 200 ? `${text.slice(0, 200)} …` : text;
}

function stepUnlike(by) {
  const steps = [...main.querySelectorAll(".unlike")];
  const now = steps.indexOf(document.activeElement);
  const next = steps[now < 0 && by < 0 ? steps.length - 1 : now + by];
  if (!next) return say("No more differing steps.");
  next.focus();
  return next.scrollIntoView({ block: "center" });
}

// A single turn: the calls of each answer, beside those expected

function answersSideBySide(found) {
  const says = found.answers[0].says || [];
  return [
    el("h2", "Messages"),
    says.map(([role, text]) => el("div.says", el("h3", words(role)), prose(text))),
    el("h2", "Answers"),
    el(
      "div.aligned-step",
      { vars: { runs: found.answers.length } },
      el("span.where", "answer"),
      found.answers.map((answer, index) =>
        el(
          "div.cell",
          el("p", el("b", `${LETTERS[index]} `), ledTo(found, index, answer.name)),
          (answer.pairs || []).map(answerPair),
          answer.answer && prose(answer.answer),
          answer.unreadable && el("p.problem-line", `Could not be read as calls: ${answer.unreadable}`),
          answer.failure && el("p.problem-line", answer.failure),
        ),
      ),
    ),
  ];
}

function answerPair({ call, expected, problem }) {
  return [
    el("pre.code", call === null ? el("em", "no call") : call),
    expected !== null && el("p.quiet", `expected ${expected}`),
    problem !== null && el("p.problem-line", problem),
  ];
}

open(showAligned);
