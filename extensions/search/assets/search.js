// The tree of a search: all answers in their order, those of a branch that was undone set in.

const BECAME = { stands: "stands", undone: "undone", given_up: "gave up" };

EPISODE_PARTS.push((data) => data.search && searchPart(data.search));

/** Return what a search took, and its tree, which opens. */
function searchPart(search) {
  const turns = [...new Set(search.tree.map(({ turn }) => turn))];
  return el(
    "details.search",
    el("summary", el("strong", "Search"), `: ${search.summary}`),
    turns.map((turn) =>
      el(
        "section",
        el("h3", `Turn ${turn + 1}`),
        treePart(
          search.tree.filter((point) => point.turn === turn),
          0,
        ),
      ),
    ),
    search.left > 0 && el("p.quiet", `${search.left} more answers; turnwise replay shows all.`),
  );
}

/** Return the points of a list that stand at a depth, each run of deeper ones as a list within. */
function treePart(points, depth) {
  const items = [];
  for (let at = 0; at < points.length; ) {
    let end = at;
    while (end < points.length && points[end].depth > depth) end += 1;
    if (end > at) {
      items.push(el("li.branch", treePart(points.slice(at, end), depth + 1)));
      at = end;
    } else {
      items.push(pointPart(points[at]));
      at += 1;
    }
  }
  return el("ol", items);
}

function pointPart({ number, became, said, results }) {
  return el(
    "li",
    { class: `point ${became}`, value: number },
    el("code", said),
    became !== "stands" && el("span.badge", BECAME[became]),
    became === "undone" && results.map((result) => el("div.result", block(result))),
  );
}
