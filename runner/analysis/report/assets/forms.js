// Forms of the pages on which people write entries and chat with a model.

/** Return a form whose problem is shown below its fields. */
function problemForm(submit, ...content) {
  const problem = el("p.problem", { role: "alert", hidden: true });
  const listen = async (event) => {
    event.preventDefault();
    problem.hidden = true;
    try {
      await submit();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      problem.textContent = error.message;
      problem.hidden = false;
    }
  };
  return el("form.author-form", { submit: listen }, content, problem);
}

function environmentList(environments) {
  return el("select", { multiple: true, size: 8, required: true }, environments.map((name) => el("option", name)));
}

function chosenIn(list) {
  return [...list.selectedOptions].map((each) => each.value);
}

/** Return a form that searches entries and shows them in a table. */
function searchForm(path, label, tableOf) {
  const words = el("input", { type: "search", autocomplete: "off" });
  const output = el("div.found", { role: "status" });
  const submit = async () => {
    const { name, entries, more } = await asked(path, [["find", words.value]]);
    const rest = more ? `; ${plural(more, "more entry", "more entries")}` : "";
    output.replaceChildren(
      el("p.quiet", `${name}: ${plural(entries.length, "entry", "entries")}${rest}`),
      entries.length ? tableOf(label, entries) : "",
    );
  };
  return [
    problemForm(submit, el("label", "Words of the id or the messages", words), el("p.actions", el("button", { type: "submit" }, "Find"))),
    output,
  ];
}
