// The list of a run's episodes: filtered, sorted, searched, and walked through with keys.

const BATCH = 200;
const NARROWED_BY = ["category", "outcome", "cause"];
const COLUMNS = [
  {
    name: "id",
    label: "Episode",
    value: (row) => row.id,
    cell: (row, run) => [
      el("a", { href: address(placeIn(row)) }, row.id),
      run.overview.trials.length > 0 && el("span.quiet.trial", ` trial ${row.trial}`),
      row.opening && el("p.quiet.detail", row.opening),
    ],
  },
  {
    name: "category",
    label: "Category",
    value: (row) => row.category,
    cell: (row) => row.category,
  },
  {
    name: "outcome",
    label: "Outcome",
    value: (row) => ["error", "failed", "passed"].indexOf(row.outcome),
    cell: (row) => badge(row.outcome),
  },
  {
    name: "cause",
    label: "Why",
    value: (row) => row.cause || "~",
    cell: (row, run) => [
      row.cause && term(causeOf(row), meaningOf(run, row)),
      row.detail && el("span.quiet.detail", row.detail),
    ],
  },
  {
    name: "judged",
    label: "Judged",
    there: (run) => (run.judges || []).length > 0,
    value: (row) => (row.judged || []).map((said) => (said ? said.label : "~")).join(),
    cell: (row) => row.judged.filter(Boolean).map((said) => [judgeBadge(said), " "]),
  },
  {
    name: "turns",
    label: "Turns",
    number: true,
    value: shareOfTurns,
    cell: (row) => [
      `${row.turns_passed} of ${row.turns}`,
      el("span.meter", { vars: { share: shareOfTurns(row) } }),
    ],
  },
  {
    name: "told",
    label: "Facts told",
    number: true,
    there: (run) => run.overview.told,
    value: (row) => (row.told ? row.told[0] / row.told[1] : -1),
    cell: (row) => (row.told ? `${row.told[0]} of ${row.told[1]}` : "–"),
  },
  {
    name: "divergence",
    label: "Left the truth at",
    value: (row) => (row.divergence ? row.divergence[0] * 1000 + row.divergence[1] : 1e9),
    cell: (row) =>
      row.divergence &&
      el("a", { href: address(placeIn(row, ...row.divergence)) }, whereOf(row.divergence)),
  },
  {
    name: "steps",
    label: "Steps",
    number: true,
    value: (row) => row.steps,
    cell: (row) => row.steps,
  },
  {
    name: "latency",
    label: "Time",
    number: true,
    there: (run) => run.overview.usage,
    value: (row) => row.latency || 0,
    cell: (row) => (row.latency === null ? "–" : seconds(row.latency)),
  },
  {
    name: "cost",
    label: "Cost",
    number: true,
    there: (run) => run.overview.usage && run.overview.usage.cost !== null,
    value: (row) => row.cost || 0,
    cell: (row) => (row.cost === null ? "–" : `$${row.cost.toFixed(4)}`),
  },
];

/** Return the view of a run's overview and episodes: its node, and how to move in it. */
function listView(run) {
  const columns = COLUMNS.filter((column) => !column.there || column.there(run));
  const texts = [];
  let filters = null;
  let left = run.rows;
  let shown = 0;
  let scrolled = 0;

  const narrow = (change) => go({ filters: change }, { replace: true });
  const nothing = Object.fromEntries(["q", ...NARROWED_BY].map((name) => [name, ""]));
  const search = el("input", {
    id: "search",
    type: "search",
    placeholder: "Search ids, causes, transcripts",
    "aria-label": "Search episodes",
    autocomplete: "off",
    spellcheck: "false",
    input: debounced(() => narrow({ q: search.value })),
  });
  const choosers = NARROWED_BY.map((name) => chooser(run, name, narrow));
  const clear = el("button.clear", { type: "button", click: () => narrow(nothing) }, "Clear");
  const resetButton = () =>
    el("button", { type: "button", click: () => narrow(nothing) }, "Show all episodes");
  const count = el("p.count.quiet", { role: "status" });
  const sortBy = (name) => narrow({ sort: nextSort(filters.sort, name) });
  const head = el(
    "tr",
    columns.map((column) => headOf(column, sortBy)),
  );
  const body = el("tbody");
  const more = el("p.more");
  const node = el(
    "div.list",
    overviewOf(run),
    run.groups ? el("section.by-group", groupCards(run.groups, [run.name])) : "",
    el(
      "section",
      { "aria-labelledby": "episodes" },
      el("h2", { id: "episodes" }, "Episodes"),
      el("div.filters", { role: "search" }, search, choosers, clear, count),
      el("table.episodes", el("thead", head), body),
      more,
    ),
  );
  const watch = new IntersectionObserver(([entry]) => entry.isIntersecting && grow(), {
    rootMargin: "800px",
  });
  window.addEventListener("beforeprint", () => grow(Infinity));

  function grow(by = BATCH) {
    body.append(...left.slice(shown, shown + by).map((row) => lineOf(row, run, columns)));
    shown = Math.min(left.length, shown + by);
    more.replaceChildren(shown < left.length ? `${left.length - shown} more` : "");
    if (left.length === 0) more.append("No episode is like that. ", resetButton());
    highlight(body, filters.q);
    // Anew, so that it is told again should the end still be in sight.
    watch.unobserve(more);
    if (shown < left.length) watch.observe(more);
  }

  function update(wanted) {
    const changed = !filters || FILTERS.some((name) => filters[name] !== wanted[name]);
    filters = wanted;
    if (changed) select();
  }

  function select() {
    const searched = wordsOf(filters.q);
    const isWanted = (row, index) =>
      NARROWED_BY.every((name) => !filters[name] || row[name] === filters[name]) &&
      searched.every(
        (word) => textOf(row).includes(word) || (texts[index] || "").includes(word),
      );
    left = sorted(run.rows.filter(isWanted), filters.sort);
    shown = 0;
    body.replaceChildren();
    grow();
    showFilters();
    if (searched.some((word) => word.length > 1) && texts.length === 0) readTranscripts();
  }

  function showFilters() {
    if (search.value !== filters.q) search.value = filters.q;
    for (const chosen of choosers) {
      chosen.querySelector("select").value = filters[chosen.dataset.name];
    }
    clear.hidden = Object.keys(nothing).every((name) => !filters[name]);
    const [all, some] = [run.rows, left].map((rows) => rows.length.toLocaleString("en"));
    count.textContent = `${some} of ${all}`;
    for (const cell of head.children) markSorted(cell, filters.sort);
  }

  /** Read all transcripts, once, so that they can be searched too. */
  async function readTranscripts() {
    count.append(", reading transcripts …");
    for (let index = 0; index < run.rows.length; index += 1) {
      const found = allTexts(await unpack(run.first_pack + index));
      texts[index] = found.join("\n").toLowerCase();
    }
    select();
  }

  return {
    node,
    update,
    enter(before) {
      const at = left.findIndex((row) => isAt(row, before));
      while (at >= shown) grow();
      window.scrollTo(0, scrolled);
      if (at >= 0) body.rows[at].querySelector("a").focus({ preventScroll: scrolled > 0 });
    },
    leave() {
      scrolled = window.scrollY;
    },
    move(by) {
      const now = [...body.rows].indexOf(document.activeElement.closest("tr"));
      const next = Math.min(Math.max(now + by, 0), left.length - 1);
      if (next >= shown) grow();
      if (body.rows[next]) {
        body.rows[next].querySelector("a").focus();
        body.rows[next].scrollIntoView({ block: "nearest" });
      }
    },
    neighbour(of, by) {
      if (!filters) update(of.filters);
      const at = left.findIndex((row) => isAt(row, of));
      return left[at < 0 ? 0 : at + by];
    },
  };
}

function placeIn(row, turn = null, step = null) {
  return { id: row.id, trial: row.trial, turn, step };
}

function shareOfTurns(row) {
  return row.turns_passed / Math.max(1, row.turns);
}

function headOf({ name, label, number }, sortBy) {
  return el(
    "th",
    { scope: "col", class: number ? "number" : null, "data-column": name },
    el("button", { type: "button", click: () => sortBy(name) }, label),
  );
}

function lineOf(row, run, columns) {
  function enter(event) {
    // The links in it go where they say, and marking text is no click.
    if (!event.target.closest("a") && !String(getSelection())) go(placeIn(row));
  }
  return el(
    "tr",
    { class: row.outcome, click: enter },
    columns.map(({ name, label, number, cell }) =>
      el("td", { class: number ? `${name} number` : name, "data-label": label }, cell(row, run)),
    ),
  );
}

function chooser(run, name, narrow) {
  const counts = new Map();
  for (const { [name]: value } of run.rows) {
    if (value) counts.set(value, (counts.get(value) || 0) + 1);
  }
  const options = [...counts]
    .sort(([, one], [, other]) => other - one)
    .map(([value, count]) => el("option", { value }, `${words(value)} (${count})`));
  const change = (event) => narrow({ [name]: event.target.value });
  return el(
    "label",
    { "data-name": name, hidden: counts.size === 0 },
    el("span", words(name)),
    el("select", { change }, el("option", { value: "" }, "all"), options),
  );
}

/** Return rows sorted by a column's name, downwards with a minus before it. */
function sorted(rows, sort) {
  const column = COLUMNS.find(({ name }) => name === sort.replace("-", ""));
  if (!column) return rows;
  const sign = sort.startsWith("-") ? -1 : 1;
  const compare = (a, b) =>
    typeof a === "string" ? a.localeCompare(b, "en", { numeric: true }) : a - b;
  return [...rows].sort((one, other) => sign * compare(column.value(one), column.value(other)));
}

function nextSort(sort, name) {
  if (sort === name) return `-${name}`;
  return sort === `-${name}` ? "" : name;
}

function markSorted(cell, sort) {
  const { column } = cell.dataset;
  if (sort === column) cell.setAttribute("aria-sort", "ascending");
  else if (sort === `-${column}`) cell.setAttribute("aria-sort", "descending");
  else cell.removeAttribute("aria-sort");
}

function badge(outcome) {
  return el(
    "span",
    { class: `badge ${outcome}` },
    { passed: "✓ passed", failed: "✗ failed", error: "! error" }[outcome],
  );
}

/** Return the label of a judge, and how many of its votes are for it. */
function judgeBadge({ judge, label, votes }) {
  const total = Object.values(votes).reduce((sum, count) => sum + count, 0);
  const look = { pass: "passed", fail: "failed", unsure: "error" }[label];
  const text = `${label} ${votes[label] || 0}/${total}`;
  return el("span", { class: `badge ${look}`, title: judge }, text);
}

function whereOf([turn, step, call]) {
  return call === null ? `turn ${turn}, end` : `turn ${turn}, step ${step}`;
}

/** Return why an episode failed, in words. */
function causeOf({ cause, sub_reason: kind }) {
  return kind ? `${words(cause)} (${words(kind).toLowerCase()})` : words(cause);
}

function meaningOf(run, { cause, sub_reason: kind }) {
  return [run.meanings[cause], run.meanings[kind]].filter(Boolean).join(": ");
}

function textOf(row) {
  const { id, category, outcome, cause, detail, reason, opening } = row;
  return [id, category, outcome, cause && causeOf(row), detail, reason, opening]
    .join("\n")
    .toLowerCase();
}

/** Return all texts in a JSON value. */
function allTexts(value) {
  if (typeof value === "string") return [value];
  return value && typeof value === "object" ? Object.values(value).flatMap(allTexts) : [];
}

function debounced(act) {
  let timer = null;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(act, 120);
  };
}
