// The list of a run's episodes: filtered, sorted, searched, and walked through with keys.

const BATCH = 200;
const NARROWED_BY = ["category", "outcome", "cause", "tag"];
// A page that is served has a form: served_report.js.
let annotationForm = () => null;
const COLUMNS = [
  {
    name: "id",
    label: "Episode",
    value: (row) => row.id,
    fixed: true,
    cell(row, run, isInFold) {
      const href = address(placeIn(row));
      if (isInFold) {
        const label = `${row.id} trial ${row.trial}`;
        return [el("a", { href, "aria-label": label }, `trial ${row.trial}`), tagsOf(row)];
      }
      return [
        el("a", { href }, row.id),
        run.overview.trials.length > 0 && el("span.quiet.trial", ` trial ${row.trial}`),
        tagsOf(row),
        row.opening && el("p.quiet.detail", row.opening),
      ];
    },
    folded: (rows) => [el("span.quiet.trial", `${rows.length} trials`), el("p.quiet.detail", rows[0].opening)],
  },
  {
    name: "category",
    label: "Category",
    there: (run) => new Set(run.rows.map((row) => row.category)).size > 1,
    value: (row) => row.category,
    cell: (row) => row.category,
    folded: ([row]) => row.category,
  },
  {
    name: "outcome",
    label: "Outcome",
    value: (row) => ["error", "failed", "passed"].indexOf(row.outcome),
    cell: (row) => badge(row.outcome),
    folded: passedOf,
  },
  {
    name: "cause",
    label: "Why",
    value: (row) => row.cause || "~",
    cell(row, run) {
      const [name, rest] = row.cause ? sentenceOf(run, row) : [null, row.detail];
      return [name, rest && el("span.quiet.detail", rest)];
    },
    folded: causesOf,
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
    label: "Facts reported",
    number: true,
    there: (run) => run.overview.told,
    value: (row) => (row.told ? row.told[0] / row.told[1] : -1),
    cell: (row) => (row.told ? `${row.told[0]} of ${row.told[1]}` : "–"),
  },
  {
    name: "place",
    label: "Place",
    hidden: true,
    value: (row) => (row.place ? row.place[0] * 1000 + row.place[1] : 1e9),
    cell: (row) =>
      row.place && el("a", { href: address(placeIn(row, ...row.place)) }, row.where),
  },
  {
    name: "steps",
    label: "Steps",
    number: true,
    value: (row) => row.steps,
    cell: (row) => row.steps,
    mean: (mean) => mean.toFixed(1),
  },
  {
    name: "latency",
    label: "Time",
    number: true,
    there: (run) => run.overview.usage,
    value: (row) => row.latency || 0,
    mean: (mean) => seconds(mean),
    cell: (row) => (row.latency === null ? "–" : seconds(row.latency)),
  },
  {
    name: "cost",
    label: "Cost",
    number: true,
    there: (run) => run.overview.usage && run.overview.usage.cost !== null,
    value: (row) => row.cost || 0,
    mean: (mean) => `$${mean.toFixed(4)}`,
    cell: (row) => (row.cost === null ? "–" : `$${row.cost.toFixed(4)}`),
  },
];

/** Return the view of a run's overview and episodes: its node, and how to move in it. */
function listView(run) {
  const choice = columnChoice("episodes", COLUMNS.filter((c) => !c.there || c.there(run)), () => {
    showHead();
    select();
  });
  const texts = [];
  const opened = new Set();
  let filters = null;
  let left = run.rows;
  let entries = [];
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
  const head = el("tr");
  const showHead = () => head.replaceChildren(...choice.shown().map((c) => headOf(c, sortBy)));
  showHead();
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
      el("div.filters", { role: "search" }, search, choosers, clear, choice.node, count),
      el("table.episodes", el("thead", head), body),
      more,
    ),
  );
  const watch = new IntersectionObserver(([entry]) => entry.isIntersecting && grow(), {
    rootMargin: "800px",
  });
  window.addEventListener("beforeprint", () => grow(Infinity));

  function grow(by = BATCH) {
    body.append(...entries.slice(shown, shown + by).flatMap(linesOf));
    shown = Math.min(entries.length, shown + by);
    more.replaceChildren(shown < entries.length ? `${entries.length - shown} more` : "");
    if (left.length === 0) more.append("No matching episodes. ", resetButton());
    highlight(body, filters.q);
    // Anew, so that it is told again should the end still be in sight.
    watch.unobserve(more);
    if (shown < entries.length) watch.observe(more);
  }

  /** Return the lines of an entry: of its only episode, or one for all trials that opens. */
  function linesOf(rows) {
    const lines = rows.map((row) => lineOf(row, run, choice.shown(), rows.length > 1));
    if (rows.length === 1) return lines;
    const { id } = rows[0];
    const button = el("button.fold", { type: "button", click: () => show(!opened.has(id)) }, id);
    const first = foldedLine(rows, choice.shown(), button);
    first.addEventListener("click", ({ target }) => target.closest("button") || button.click());
    for (const line of lines) line.classList.add("of-fold");
    function show(open) {
      if (open) opened.add(id);
      else opened.delete(id);
      button.setAttribute("aria-expanded", open);
      for (const line of lines) line.hidden = !open;
    }
    show(opened.has(id));
    return [first, ...lines];
  }

  function update(wanted) {
    const changed = !filters || FILTERS.some((name) => filters[name] !== wanted[name]);
    filters = wanted;
    if (changed) select();
  }

  function select() {
    const searched = wordsOf(filters.q);
    const isWanted = (row, index) =>
      NARROWED_BY.every((name) => !filters[name] || valuesOf(row, name).includes(filters[name])) &&
      searched.every(
        (word) => textOf(row).includes(word) || (texts[index] || "").includes(word),
      );
    entries = byEntry(sorted(run.rows.filter(isWanted), filters.sort));
    left = entries.flat();
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
    texts.length = run.rows.length;
    count.append(", reading transcripts …");
    if (left.length === 0) more.textContent = "Searching transcripts …";
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
      const at = entries.findIndex((rows) => rows.some((row) => isAt(row, before)));
      while (at >= shown) grow();
      window.scrollTo(0, scrolled);
      if (at < 0) return;
      const href = address(placeIn(entries[at].find((row) => isAt(row, before))));
      const links = [...body.querySelectorAll("td.id a")];
      const link = links.find((each) => each.getAttribute("href") === href);
      const folds = [...body.querySelectorAll("button.fold")];
      if (link.closest("tr").hidden) folds.find((each) => each.textContent === before.id).click();
      link.focus({ preventScroll: scrolled > 0 });
    },
    leave() {
      scrolled = window.scrollY;
    },
    move(by) {
      const lines = () => [...body.rows].filter((line) => !line.hidden);
      const next = Math.max(lines().indexOf(document.activeElement.closest("tr")) + by, 0);
      if (next >= lines().length) grow();
      const line = lines()[Math.min(next, lines().length - 1)];
      if (line) {
        line.querySelector("a, button").focus();
        line.scrollIntoView({ block: "nearest" });
      }
    },
    neighbour(of, by) {
      if (!filters) update(of.filters);
      const at = left.findIndex((row) => isAt(row, of));
      return left[at < 0 ? 0 : at + by];
    },
  };
}

/** Return rows by entry, in the order of each entry's first row. */
function byEntry(rows) {
  const found = new Map();
  for (const row of rows) found.set(row.id, [...(found.get(row.id) || []), row]);
  return [...found.values()];
}

/**
 * Return a choice of columns that the browser keeps: the node to choose them with, and those that
 * are shown. A fixed column always is, a hidden one only if it is chosen.
 */
function columnChoice(list, columns, change) {
  const kept = parsed(stored(`columns-${list}`));
  const isShown = ({ name, fixed, hidden }) => fixed || (kept[name] ?? !hidden);
  const choose = (name) => (event) => {
    kept[name] = event.target.checked;
    stored(`columns-${list}`, JSON.stringify(kept));
    change();
  };
  const box = (column) =>
    el(
      "label",
      el("input", { type: "checkbox", checked: isShown(column), change: choose(column.name) }),
      column.label,
    );
  const node = el(
    "details.choice",
    el("summary", "Columns"),
    el("div", columns.filter(({ fixed }) => !fixed).map(box)),
  );
  document.addEventListener("click", ({ target }) => node.contains(target) || (node.open = false));
  return { node, shown: () => columns.filter(isShown) };
}

function parsed(text) {
  try {
    return JSON.parse(text) || {};
  } catch {
    return {};
  }
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

function lineOf(row, run, columns, isInFold) {
  function enter(event) {
    // The links in it go where they say, and marking text is no click.
    if (!event.target.closest("a") && !String(getSelection())) go(placeIn(row));
  }
  return el(
    "tr",
    { class: row.outcome, click: enter },
    columns.map(({ name, label, number, cell }) =>
      el("td", { class: number ? `${name} number` : name, "data-label": label }, cell(row, run, isInFold)),
    ),
  );
}

/** Return the line for all trials of an entry, which the button opens. */
function foldedLine(rows, columns, button) {
  const known = ({ name }) => rows.filter((row) => row[name] !== null);
  const means = (column) => {
    if (column.folded) return column.folded(rows);
    const values = known(column).map(column.value);
    if (!column.mean || values.length === 0) return column.mean && "–";
    return column.mean(values.reduce((sum, value) => sum + value, 0) / values.length);
  };
  return el(
    "tr.folded-trials",
    columns.map((column) =>
      el(
        "td",
        {
          class: column.number ? `${column.name} number` : column.name,
          "data-label": column.label,
          title: column.mean && `mean of ${plural(known(column).length, "trial")}`,
        },
        column.name === "id" && button,
        means(column),
      ),
    ),
  );
}

function passedOf(rows) {
  const passed = rows.filter((row) => row.outcome === "passed").length;
  const look = { [rows.length]: "passed", 0: "failed" }[passed] || "error";
  return el("span", { class: `badge ${look}` }, `${passed} of ${rows.length} passed`);
}

/** Return the causes of an entry's trials with their numbers, and the sentence of the first. */
function causesOf(rows) {
  const counts = new Map();
  for (const row of rows.filter(({ cause }) => cause)) {
    counts.set(causeOf(row), (counts.get(causeOf(row)) || 0) + 1);
  }
  const text = [...counts].map(([cause, count]) => (count > 1 ? `${cause} ×${count}` : cause));
  const first = rows.find(({ detail }) => detail);
  return [text.join(", "), first && el("span.quiet.detail", first.sentence || first.detail)];
}

function chooser(run, name, narrow) {
  const counts = new Map();
  for (const value of run.rows.flatMap((row) => valuesOf(row, name))) {
    counts.set(value, (counts.get(value) || 0) + 1);
  }
  const options = [...counts]
    .sort(([, one], [, other]) => other - one)
    .map(([value, count]) =>
      el("option", { value }, `${name === "tag" ? value : words(value)} (${count})`),
    );
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

/** Return what a row has to choose by: its tags, or its one value if it has one. */
function valuesOf(row, name) {
  return name === "tag" ? row.tags : [row[name]].filter(Boolean);
}

/** Return tags, and what a person noted. */
function tagsOf({ tags, note }) {
  return [
    tags.length > 0 && el("span.tags", tags.map((tag) => el("span.tag", tag))),
    note && el("p.note.detail", note),
  ];
}

function badge(outcome) {
  return el(
    "span",
    { class: `badge ${outcome}` },
    { passed: "✓ passed", failed: "✗ failed", error: "! error" }[outcome],
  );
}

/** Return why an episode failed, in words. */
function causeOf({ cause, sub_reason: kind }) {
  return kind ? `${cause} (${kind})` : cause;
}

function meaningOf(run, { cause, sub_reason: kind }) {
  return [run.meanings[cause], run.meanings[kind]].filter(Boolean).join(": ");
}

function textOf(row) {
  const { id, category, outcome, sentence, detail, reason, opening, tags, note } = row;
  return [...tags, note, id, category, outcome, sentence, detail, reason, opening]
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
