// A page that is served: it asks for its data where it is from, leads to the other pages there, and
// hears when something changes. Its addresses begin with the token, which no link takes elsewhere.

const ROOT = `/${location.pathname.split("/")[1]}/`;
const HERE = location.pathname.slice(ROOT.length);
const EVERY = 2000;

staysHere = (href) => href.startsWith("#") || href.startsWith(ROOT);
unpack = async (number) => asked(`data/${HERE}`, [...new URLSearchParams(location.search), ["pack", number]]);

/** Return an address below the root: a path of parts, and names with values. */
function pathTo(path, pairs = []) {
  const query = new URLSearchParams(
    pairs.map(([name, value]) => [name, String(value).toWellFormed()]),
  );
  return `${ROOT}${path}${query.size ? `?${query}` : ""}`;
}

/** Return the address of a run's page. */
function runPath(name, hash = "") {
  const parts = name.split("/").map((part) => encodeURIComponent(part.toWellFormed()));
  return `${pathTo(`run/${parts.join("/")}`)}${hash}`;
}

/** Return the address of an episode of a run. */
function episodePath(name, id, trial) {
  return runPath(name, `#e/${encodeURIComponent(id.toWellFormed())}/${trial}`);
}

/** Return what the server answers; what it cannot answer it says in a line. */
async function asked(path, pairs = [], method = "GET", body = undefined) {
  const sent = body && JSON.stringify(body);
  const answer = await fetch(pathTo(path, pairs), { cache: "no-store", method, body: sent });
  if (!answer.ok) throw new Error(`the server responded with status ${answer.status}`);
  const found = await answer.json();
  if (found && typeof found.problem === "string") throw new Problem(found.problem);
  return found;
}

/** Say above a page what is to be known of it, such as that the data is not what it was. */
function showNotes(notes) {
  for (const old of document.querySelectorAll(".notes")) old.remove();
  if (notes.length === 0) return;
  main.before(el("aside.notes", { "aria-label": "Notes" }, notes.map((note) => el("p", note))));
}

/** What a user can mend, and no fault of the page. */
class Problem extends Error {
  name = "Problem";
}

// What is asked for later than the page itself and cannot be had is said above it.
window.addEventListener("unhandledrejection", (event) => {
  if (!(event.reason instanceof Problem)) return;
  event.preventDefault();
  showNotes([event.reason.message]);
});

/** Ask again and again while the page is seen, and say when nobody answers any more. */
function watch(ask, every = EVERY) {
  const lost = el("p.lost", { role: "alert", hidden: true }, "The viewer no longer responds.");
  document.getElementById("top").append(lost);
  async function turn() {
    let wait = every;
    if (document.visibilityState === "visible") {
      try {
        wait = (await ask()) || every;
        lost.hidden = true;
      } catch (error) {
        lost.hidden = false;
        if (!(error instanceof TypeError)) lost.textContent = `The viewer: ${error.message}`;
        wait = 5 * every;
      }
    }
    setTimeout(turn, wait);
  }
  setTimeout(turn, every);
}

// What of the page is exported; a page with several views says which one is seen.
let exported = () => [`export/${HERE}`, [...new URLSearchParams(location.search)]];

async function copyText(text, said) {
  try {
    await navigator.clipboard.writeText(text);
    say(said);
  } catch {
    say("The browser does not allow copying.");
  }
}

function servedFrame() {
  const brand = document.getElementById("brand");
  const home = el("a", { id: "brand", href: ROOT }, "Turnwise");
  const file = el("a.tool", { href: ROOT, download: true }, "Export");
  file.addEventListener("click", () => file.setAttribute("href", pathTo(...exported())));
  const copy = el("button", { type: "button", click: copyPath }, "Copy path");
  function copyPath() {
    const path = location.href.slice(location.origin.length + ROOT.length);
    copyText(path, `Copied: ${path}`);
    copy.textContent = "Copied";
    setTimeout(() => (copy.textContent = "Copy path"), 1500);
  }
  brand.replaceWith(home);
  document.getElementById("tools").prepend(copy, file);
  onKey("g", "all runs", () => location.assign(ROOT));
}

servedFrame();
