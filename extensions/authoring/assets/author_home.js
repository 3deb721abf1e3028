// The file that people write: its entries, drafts, and entries that they may copy.

/** Return the address of a draft's page. */
function draftPath(key) {
  return pathTo("draft", [["id", key]]);
}

/** Send a request and open the draft that the server answers with. */
async function openDraft(path, body) {
  const { draft } = await asked(`data/${path}`, [], "POST", body);
  location.assign(draftPath(draft));
}

function reviewText({ state, changed, reviews }) {
  const names = reviews.map((each) => `${each.reviewer}: ${each.class}`).join(", ");
  const since = changed ? "; changed since its last review" : "";
  return names ? `${state} (${names})${since}` : state;
}

function entryTable(label, entries, from) {
  const row = (entry) => {
    const open = () => openDraft("open", { id: entry.id, from });
    const name = from === "source" ? "Copy" : "Open";
    const button = el("button", { type: "button", click: open, "aria-label": `${name} ${entry.id}` }, name);
    return el(
      "tr",
      el("td.id", entry.id, el("small.opening", entry.opening)),
      el("td", entry.category),
      el("td.number", entry.turns),
      from === "file" && el("td", entry.author || "–"),
      from === "file" && el("td", reviewText(entry)),
      el("td", entry.edited ? button : el("span.quiet", "not editable here")),
    );
  };
  const columns = from === "file" ? ["author", "review"] : [];
  const head = heads(["entry", "category", ["turns"], ...columns, ""]);
  return scrolling(label, el("table.entries", head, el("tbody", entries.map(row))));
}

function newForm({ environments, categories }) {
  const id = el("input", { autocomplete: "off", spellcheck: "false", required: true });
  const category = el("select", categories.map((name) => el("option", name)));
  const listed = environmentList(environments);
  const submit = () =>
    openDraft("new", { id: id.value.trim(), category: category.value, environments: chosenIn(listed) });
  return problemForm(
    submit,
    el("label", "Id", id),
    el("label", "Category", category),
    el("label", "Environments (Ctrl selects several)", listed),
    el("p.actions", el("button", { type: "submit" }, "Create entry")),
  );
}

function draftList(drafts) {
  const line = (each) => el("li", el("a", { href: draftPath(each.draft) }, each.id || "without an id"));
  return card("Unsaved drafts", el("ul.drafts", drafts.map(line)));
}

open(async (found) => {
  document.body.classList.add("home");
  document.title = `${found.file} – Turnwise`;
  document.getElementById("heading").replaceChildren(el("span.run", found.file));
  const { entries, drafts } = found;
  main.replaceChildren(
    el("h1", `Entries of ${found.file}`),
    card("Entries", entries.length ? entryTable("Entries of the file", entries, "file") : el("p.quiet", "The file has no entries yet.")),
    ...(drafts.length ? [draftList(drafts)] : []),
    card("New entry", newForm(found)),
    card("Copy an entry", searchForm("data/source", "Entries to copy", (label, rows) => entryTable(label, rows, "source"))),
  );
  document.querySelector("a.tool[download]").remove();
  onKey("g", "all entries", () => location.assign(ROOT));
});
