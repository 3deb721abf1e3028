// One episode: its turns and steps, the ground truth beside them, and the state against its own.

// So many steps are drawn as they come into sight.
const MANY = 12;
// So many equal steps in a row are folded, and so many missing results are shown at once.
const EQUAL_STEPS = 3;
const MISSING_SHOWN = 3;
// Functions of extensions that return a part of the summary for an episode's data, or nothing.
const EPISODE_PARTS = [];

/** Return the view of one episode: its node, and how to move in it. */
async function episodeView(run, number) {
  const row = run.rows[number];
  const data = await unpack(run.first_pack + number);
  const shared = once(() => unpack(1 + runs.indexOf(run)));
  const moments = data.pairs ? callsOf(data) : momentsOf(row, data);
  const shown = data.pairs ? answerPart(row, data, shared) : turnsPart(row, data, moments, shared);
  const node = el("div.episode", summaryOf(run, row, data), shown);
  highlight(node, place.filters.q);

  function at() {
    return moments.findIndex(({ turn, step }) => turn === place.turn && step === place.step);
  }

  function visit(moment) {
    if (moment) go({ turn: moment.turn, step: moment.step }, { replace: true });
    else say("No more differences from the ground truth.");
  }

  return {
    node,
    show(turn, step) {
      for (const marked of node.querySelectorAll(".here")) marked.classList.remove("here");
      if (turn === null) return;
      const target =
        node.querySelector(`#${anchor(turn, step)}`) ||
        node.querySelector(`#${anchor(turn, null)}`);
      if (!target) return;
      const fold = target.closest("details.equal-steps");
      if (fold) fold.open = true;
      target.classList.add("here");
      target.focus({ preventScroll: true });
      target.scrollIntoView({ block: "start" });
      const link = node.querySelector(`.outline [data-stop="${anchor(turn, step)}"]`);
      if (link) link.classList.add("here");
    },
    move(by) {
      visit(moments[at() < 0 ? 0 : at() + by]);
    },
    moveOff(by) {
      const from = at();
      const ahead =
        by > 0 ? moments.slice(from + 1) : moments.slice(0, Math.max(from, 0)).reverse();
      visit(ahead.find((moment) => moment.isOff));
    },
    toggleAll() {
      const parts = [...node.querySelectorAll("details")];
      const open = parts.some((part) => !part.open);
      for (const part of parts) part.open = open;
    },
  };
}

function turnsPart(row, data, moments, shared) {
  const turns = data.turns.map((_, turn) =>
    turnPart(
      row,
      data,
      turn,
      moments.filter((moment) => moment.turn === turn),
      shared,
    ),
  );
  const many = moments.length > MANY ? ".many" : "";
  return el("div.columns", outline(row, data), el(`div.turns${many}`, turns));
}

function anchor(turn, step) {
  return step === null ? `t${turn}` : `t${turn}s${step}`;
}

function once(make) {
  let made = null;
  return () => (made = made || make());
}

/** Return what became of the episode, and why. */
function summaryOf(run, row, data) {
  const other = (by, label) => el("button", { type: "button", click: () => neighbour(by) }, label);
  return el(
    "header.summary",
    el(
      "p.crumbs",
      el("a", { href: address(OVERVIEW) }, "← Episodes"),
      el("span", other(-1, "Previous"), other(1, "Next")),
    ),
    el("h1", row.id),
    annotationForm(row, row) || tagsOf(row),
    copies({ id: row.id, "turnwise debug …": commandOf("debug", run, row) }),
    /… (cut off here:|[\d,]+ more)/.test(JSON.stringify(data)) &&
      el(
        "p.quiet",
        "This page cuts off long values. To see them in full: ",
        copies({ "turnwise replay … --full": commandOf("replay", run, row, "--full") }),
      ),
    el(
      "p.facts-line",
      badge(row.outcome),
      el("span", row.category),
      row.trial > 0 && el("span", `trial ${row.trial}`),
      data.turns && el("span", `${row.turns_passed} of ${plural(row.turns, "turn")} passed`),
      el("span", plural(row.calls, "call")),
      row.latency !== null && el("span", seconds(row.latency)),
      row.cost !== null && el("span", `$${row.cost.toFixed(4)}`),
    ),
    row.recorded &&
      el(
        "p.problem",
        `Recorded as ${row.recorded}; turnwise verify shows what changed.`,
      ),
    row.reason &&
      el(
        "p",
        row.failed_turn === null || data.pairs ? "Failed: " : `Failed in turn ${row.failed_turn + 1}: `,
        `${row.meaning}${data.failure ? `: ${data.failure}` : ""}.`,
      ),
    (row.cause || row.detail) &&
      el(
        "div.why",
        el(
          "p",
          row.cause ? sentenceOf(run, row) : row.detail,
        ),
        Object.keys(data.evidence).length > 0 &&
          el("details", el("summary", "Evidence"), evidenceList(data.evidence)),
      ),
    row.data_error && el("p.problem", row.data_error),
    EPISODE_PARTS.map((part) => part(data)),
    row.place &&
      el(
        "p",
        el(
          "a.jump",
          { href: address({ turn: row.place[0], step: row.place[1] }) },
          `Go to the cause: ${row.where}`,
        ),
      ),
  );
}

/** Return a command that opens an episode. */
function commandOf(name, run, row, ...more) {
  const trial = row.trial > 0 ? ["--trial", String(row.trial)] : [];
  return ["turnwise", name, row.id, ...run.options, ...trial, ...more].map(shellWord).join(" ");
}

/** Return the sentence about the cause, which begins with its name. */
function sentenceOf(run, row) {
  const name = causeOf(row);
  return [term(name, meaningOf(run, row)), row.sentence.slice(name.length)];
}

function evidenceList(evidence) {
  return el(
    "dl.facts",
    Object.entries(evidence).map(([name, value]) =>
      el(
        "div",
        el("dt", words(name)),
        el("dd", valueOf(typeof value === "string" ? value : JSON.stringify(value))),
      ),
    ),
  );
}

/** Return the turns and steps as links. */
function outline(row, data) {
  const stepLink = (turn, step, { calls }) => {
    const marks = [
      leavesAt(row, { turn, step }) && "departure",
      calls.some((call) => !call.ok) && "refused",
    ];
    const names = calls.map((call) => call.name || "unreadable").join(", ");
    return stopLink(turn, step, marks.filter(Boolean).join(" "), names);
  };
  const turnPart = (shown, turn) => [
    stopLink(turn, null, turnMark(row, turn, shown), `Turn ${turn + 1}`),
    shown.steps && list(shown.steps.map((part, step) => stepLink(turn, step, part))),
  ];
  return el("nav.outline", { "aria-label": "Turns and steps" }, list(data.turns.map(turnPart)));
}

function stopLink(turn, step, marks, text) {
  const target = { href: address({ turn, step }), "data-stop": anchor(turn, step) };
  return el("a", { ...target, class: marks }, text);
}

function list(items) {
  return el(
    "ol",
    items.map((item) => el("li", item)),
  );
}

function turnMark(row, index, turn) {
  if (!turn.steps) return "unreached";
  if (index === failedTurn(row)) return "failed";
  return index < row.turns_passed ? "passed" : "after";
}

/** Return the turn in which an episode failed; one that never ended a turn failed at its cause. */
function failedTurn({ outcome, failed_turn: turn, place: at }) {
  return turn ?? (outcome === "failed" && at ? at[0] : null);
}

function leavesAt(row, { turn, step }) {
  return row.place !== null && row.place[0] === turn && row.place[1] === step;
}

const MARKS = {
  passed: "✓ passed",
  failed: "✗ fails here",
  after: "after the failure",
  unreached: "not reached",
};

/**
 * Return every step of the model's and every end of a turn, in order, with what is known then: the
 * state before and after, the ground truth's at the end of the turn, what was off already, and how
 * many messages had been sent.
 */
function momentsOf(row, data) {
  const moments = [];
  let now = merged(new Map(), data.start);
  let expected = now;
  let sent = 0;
  let ended = [];
  for (const [turn, shown] of data.turns.entries()) {
    if (shown.expected) expected = merged(expected, shown.expected);
    if (shown.state) now = merged(now, shown.state);
    for (const call of shown.truth || []) expected = merged(expected, call.state);
    let off = shown.off || [];
    for (const [step, part] of [...(shown.steps || []), shown.end].entries()) {
      if (!part) continue;
      const moment = { turn, step, part, before: now, expected, sent };
      if (part === shown.end) {
        moment.was = ended;
        moment.isOff = part.differences.length > 0 || leavesAt(row, moment);
        ended = part.differences;
      } else {
        for (const call of part.calls) now = merged(now, call.state);
        moment.was = off;
        off = part.calls[part.calls.length - 1].off;
        moment.isOff = off.length > 0 && !isEqual(off, moment.was);
      }
      sent = part.request ? part.request.request_messages : sent;
      moments.push({ ...moment, now });
    }
  }
  return moments;
}

function turnPart(row, data, index, moments, shared) {
  const turn = data.turns[index];
  const mark = turnMark(row, index, turn);
  const name = `${anchor(index, null)}-title`;
  const cards = equalSteps(moments).flatMap((equal) => {
    const [first, ...others] = equal.map((moment) => {
      const raw = rawOf(moment, data, shared);
      return moment.part === turn.end ? endCard(row, moment, data, raw) : stepCard(row, moment, raw);
    });
    if (others.length < EQUAL_STEPS - 1) return [first, ...others];
    const title = `${plural(others.length, "more step")} with the same calls and results`;
    return [first, el("details.equal-steps", el("summary", title), el("div.model", others))];
  });
  return el(
    "section",
    { class: `turn ${mark}`, id: anchor(index, null), tabindex: "-1", "aria-labelledby": name },
    el(
      "h2",
      { id: name },
      el("a", { href: address({ turn: index, step: null }) }, `Turn ${index + 1}`),
      el("span", { class: `badge ${mark}` }, MARKS[mark]),
    ),
    eventsList(turn.events),
    turn.says.map(([role, text]) => el("div.says", el("h3", words(role)), prose(text))),
    turn.offers.length > 0 &&
      el(
        "p.offers",
        "New functions in this turn: ",
        turn.offers.map((offer, which) => [which > 0 && ", ", el("code", offer)]),
      ),
    el(
      "div.sides",
      el(
        "div.model",
        el("h3.side", "Model"),
        cards.length ? cards : el("p.quiet", "The episode ended before this turn."),
      ),
      truthSide(row, index, turn, data),
    ),
  );
}

/** Return moments in groups of equal ones in a row: the same calls, results and state. */
function equalSteps(moments) {
  const groups = [];
  const isLike = (one, other) =>
    isEqual(one.part.calls, other.part.calls) && other.part.calls.every((c) => c.changes.length === 0);
  for (const moment of moments) {
    const last = groups[groups.length - 1];
    if (last && last[0].part.calls && moment.part.calls && isLike(last[0], moment)) last.push(moment);
    else groups.push([moment]);
  }
  return groups;
}

/** Return the frame of what there is to see of a moment. */
function momentCard(row, moment, title, ...content) {
  const { turn, step, part } = moment;
  return el(
    "article",
    {
      class: `step${leavesAt(row, moment) ? " divergent" : ""}`,
      id: anchor(turn, step),
      tabindex: "-1",
      "aria-label": `Turn ${turn + 1}: ${title}`,
    },
    el("header", el("h4", el("a", { href: address({ turn, step }) }, title)), meta(part.request)),
    leavesAt(row, moment) && el("p.problem", row.sentence),
    content,
  );
}

/** Return one step with calls. */
function stepCard(row, moment, raw) {
  const { step, part, was } = moment;
  return momentCard(
    row,
    moment,
    `Step ${step + 1}`,
    part.request && thoughts(part.request.reply),
    part.calls.map((call, index) =>
      callPart(call, index ? part.calls[index - 1].off : was),
    ),
    el(
      "footer",
      lazily("State after this step", () => stateTree(moment)),
      raw,
    ),
  );
}

/** Return what happened by itself in a world, and who was told; nothing without events. */
function eventsList(events) {
  return (
    events &&
    el(
      "ul.events",
      { "aria-label": "Events" },
      events.map(([reader, text]) => el("li", el("strong", `Event, to ${reader}: `), prose(text))),
    )
  );
}

function callPart(call, was) {
  const still = isEqual(call.off, was);
  return el(
    "div.call",
    codeOf(call),
    copies(partsOf(call)),
    el("div", { class: call.ok ? "result" : "result refused" }, block(laidOut(call.result))),
    call.changes.length > 0 && changesList(call.changes),
    eventsList(call.events),
    (call.remarks || []).map(([label, text]) =>
      el("p.remark", el("strong", `${label}: `), prose(text)),
    ),
    call.off.length > 0 &&
      (still
        ? el("p.still.quiet", `Still ${plural(call.off.length, "difference")} from the ground truth.`)
        : el(
            "div.off",
            el("h5", "Differences from the ground truth"),
            expectedTable(call.off, "Here"),
          )),
  );
}

function codeOf(call) {
  const shown =
    call.name === null
      ? el("pre.code", el("em", "unreadable: "), call.call)
      : el("pre.code", el("b", call.name), call.call.slice(call.name.length));
  return folded(shown, call.call);
}

/** Return what of a call one may want elsewhere. */
function partsOf({ name, call, result }) {
  const inner = name === null ? null : call.slice(name.length).replace(/^\(|\)$/g, "");
  return { call, ...(inner && { arguments: inner }), result };
}

/** Return how a turn ended, and how the state then stands against the ground truth's. */
function endCard(row, moment, data, raw) {
  const { turn, part, was } = moment;
  const failed = failedTurn(row) === turn;
  const missing = data.missing.map((text) => block(laidOut(text)));
  const more = missing.slice(MISSING_SHOWN).flat();
  const why = row.failed_turn === null && row.cause ? row.sentence : `${row.meaning}.`;
  return momentCard(
    row,
    moment,
    "End of the turn",
    part.request && thoughts({ ...part.request.reply, text: null }),
    part.answer && el("div.answer", prose(part.answer)),
    part.unreadable && el("p.problem", "Unreadable as calls: ", part.unreadable),
    differencesPart(part.differences, isEqual(part.differences, was)),
    failed &&
      data.missing.length > 0 &&
      el(
        "div.off",
        el("h5", "Expected results that the model did not see"),
        missing.slice(0, MISSING_SHOWN),
        more.length > 0 &&
          el("details", el("summary", `${data.missing.length - MISSING_SHOWN} more`), more),
      ),
    failed && el("p.verdict", `Turn failed: ${why}`),
    el(
      "footer",
      lazily("State at the end", () => stateTree(moment)),
      raw,
    ),
  );
}

function differencesPart(differences, asBefore) {
  if (!differences.length) return el("p.agrees", "✓ The state is the ground truth's.");
  const table = expectedTable(differences, "Actual");
  if (asBefore)
    return el(
      "details.still.quiet",
      el(
        "summary",
        `The same ${plural(differences.length, "difference")} of the state as in the turn before.`,
      ),
      table,
    );
  return el("div.off", el("h5", "Differences of the state from the ground truth"), table);
}

/** Return the ground truth's calls of a turn, and what the model made of each. */
function truthSide(row, index, turn, data) {
  const marks = turn.truth && turn.steps ? matches(turn) : [];
  return el(
    "aside.truth",
    { "aria-label": `Ground truth of turn ${index + 1}` },
    el("h3.side", "Ground truth"),
    turn.truth === null && el("p.quiet", "The ground truth could not be executed."),
    turn.truth && turn.truth.length === 0 && el("p.quiet", "This turn needs no calls."),
    (turn.truth || []).map((call, which) =>
      el(
        "div.call",
        codeOf(call),
        marks[which] && markOf(marks[which], index),
        index === row.failed_turn &&
          data.missing.includes(call.result) &&
          el("p.missing", "✗ its result was never seen"),
        call.changes.length > 0 && changesList(call.changes),
        el(
          "details",
          el("summary", call.ok ? "Result" : "Result: an error"),
          block(laidOut(call.result)),
        ),
      ),
    ),
  );
}

function markOf({ how, at }, turn) {
  if (how === "absent") return el("p.mark", "– not called");
  return el(
    "p",
    { class: `mark ${how}` },
    el(
      "a",
      { href: address({ turn, step: at }) },
      how === "same" ? `✓ same in step ${at + 1}` : `≈ other arguments in step ${at + 1}`,
    ),
  );
}

/** Return for every call of the ground truth where the model made it too, or one like it. */
function matches(turn) {
  const left = turn.steps.flatMap((step, at) => step.calls.map((call) => ({ ...call, at })));
  const take = (test) => {
    const found = left.findIndex(test);
    return found < 0 ? null : left.splice(found, 1)[0].at;
  };
  const same = turn.truth.map((call) =>
    take((made) => ["name", "result", "changes"].every((part) => isEqual(made[part], call[part]))),
  );
  return turn.truth.map((call, which) => {
    if (same[which] !== null) return { how: "same", at: same[which] };
    const at = take((made) => made.name === call.name);
    return { how: at === null ? "absent" : "otherwise", at };
  });
}

/** Return what a request took. */
function meta(request) {
  if (!request) return null;
  const { usage, latency, cost, attempts } = request;
  const [asked, answered] = [usage.prompt, usage.completion].map(
    (tokens) => tokens?.toLocaleString("en") ?? "?",
  );
  return el(
    "p.meta.quiet",
    el("span", seconds(latency)),
    el("span", `${asked} → ${answered} tokens`),
    cost !== null && el("span", `$${cost.toFixed(4)}`),
    attempts === 0 && el("span", "from the reply cache"),
    attempts > 1 && el("span", `${attempts} attempts`),
  );
}

function thoughts(reply) {
  return [
    reply.reasoning && el("details.reasoning", el("summary", "Reasoning"), prose(reply.reasoning)),
    reply.text && reply.tool_calls.length > 0 && el("div.answer", prose(reply.text)),
  ];
}

/** Return a request and its reply as they were sent, or nothing where the run has no record. */
function rawOf({ part: { request }, sent: before }, data, shared) {
  if (!request) return null;
  return lazily("Request and reply", async () => {
    const { prompts, functions, tools } = await shared();
    const sent = data.messages
      .slice(0, request.request_messages)
      .map((message) =>
        message.prompt === undefined
          ? message
          : { role: message.role, content: prompts[message.prompt] },
      );
    const offered = (tools[request.tools] || []).map((which) => functions[which]);
    const lost = request.tools && !tools[request.tools];
    const earlier = sent.slice(0, before);
    return el(
      "div.raw",
      el("h5", `Request: ${plural(sent.length, "message")}`),
      earlier.length > 0 &&
        lazily(`The first ${earlier.length}, as in the previous request`, () => earlier.map(json)),
      sent.slice(before).map(json),
      offered.length > 0 && lazily(plural(offered.length, "function"), () => offered.map(json)),
      lost && el("p", "The run has no record of the functions that were sent."),
      el("h5", "Reply"),
      json(request.reply),
      json(request.usage),
    );
  });
}
