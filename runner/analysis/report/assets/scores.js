// Scores and other figures of runs, side by side.

function showScores(found) {
  const names = found.runs.map((run) => run.name);
  document.getElementById("heading").replaceChildren(el("span.run", names.join(", ")));
  main.replaceChildren(
    el("section.named", { "aria-label": "Runs" }, el("h1", "Scores"), found.runs.map(runLine)),
    ...groupCards(found.groups, names),
    ...found.cards.map(figureCard),
  );
}

function runLine(run, index) {
  return el(
    "p.legend-line",
    sample(index),
    el("b", `${index + 1}`),
    ` ${run.name} `,
    el("small", `${plural(run.episodes, "episode")}, profile ${run.profile}`),
    run.errors > 0 && el("small", `; ${plural(run.errors, "error")} excluded`),
    el("small", `; ${run.headline}`),
  );
}

open(showScores);
