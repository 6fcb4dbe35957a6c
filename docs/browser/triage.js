// The page on which logtriage runs by Pyodide: a desk for one incident, then its debrief.
// logtriage.report.live decides everything; this script asks it and shows what it says.

const box = document.getElementById("triage");
const files = new URL(box.dataset.files, document.baseURI).href;
const FIRST = "cascading_failure-v4/test/246";
let live = null; // the Python module, once it is loaded
let loading = null; // a promise of it: two clicks load it once
let game = null;
let current = ""; // the id of the incident in play
let before = new Set(); // lines of the screen before
let pageAddress = null;

function el(tag, given = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(given)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null) node.setAttribute(name, value);
  }
  node.append(...children.flat().filter((one) => one !== null));
  return node;
}

const status = el("p", { role: "status" });
const stage = el("div");
const fixed = (value, digits = 3) => (value + Math.sign(value) * 1e-6).toFixed(digits);

// The last line of a Python error says what was wrong.
const reasonOf = (error) => String(error.message ?? error).trim().split("\n").at(-1).replace(/^[\w.]+: /, "");

function fail(error) {
  status.className = "alarm";
  status.textContent = reasonOf(error);
}

function say(text) {
  status.className = "";
  status.textContent = text;
}

async function load() {
  loading ??= loadPython();
  try {
    await loading;
  } catch (error) {
    loading = null; // another click tries again
    throw error;
  }
}

const WHOLE = 15; // megabytes that are counted, about

// What is fetched while `work` runs is counted as it arrives; `show` is told the megabytes.
async function counting(show, work) {
  const plain = window.fetch;
  let bytes = 0;
  const counter = () => new TransformStream({
    transform(chunk, out) {
      bytes += chunk.byteLength;
      show(bytes / 1e6);
      out.enqueue(chunk);
    },
  });
  window.fetch = async (...asked) => {
    const answer = await plain(...asked);
    const { status, statusText, headers } = answer;
    return answer.ok && answer.body ? new Response(answer.body.pipeThrough(counter()), { status, statusText, headers }) : answer;
  };
  try {
    return await work();
  } finally {
    window.fetch = plain;
  }
}

async function loadPython() {
  const bar = el("progress", { max: WHOLE, value: 0, "aria-label": "Loading" });
  const words = document.createTextNode("Loading Python and logtriage");
  say("");
  status.append(words, " ", bar);
  const show = (loaded) => {
    bar.value = Math.min(WHOLE, loaded);
    words.data = `Loading Python and logtriage: ${loaded.toFixed(1)} of about ${WHOLE} MB`;
  };
  const python = await counting(show, async () => {
    const loaded = import(`${files}pyodide.mjs`).then(({ loadPyodide }) => loadPyodide({ indexURL: files }));
    const site = fetch(`${files}site.zip`).then((answer) => answer.ok ? answer.arrayBuffer() : Promise.reject(new Error(`site.zip: ${answer.status}`)));
    const [started, archive] = await Promise.all([loaded, site]);
    started.unpackArchive(archive, "zip", { extractDir: "/site" });
    return started;
  });
  say("Starting logtriage…");
  await new Promise((drawn) => setTimeout(drawn));
  python.runPython("import sys; sys.path.insert(0, '/site')");
  live = python.pyimport("logtriage.report.live");
}

async function start(id) {
  box.dataset.state = "loading";
  begin.disabled = true;
  try {
    await load();
    game?.destroy();
    game = live.Game(id);
    current = id;
    before = new Set();
    history.replaceState(null, "", `#${id}`);
    stage.replaceChildren();
    desk(JSON.parse(game.view()));
    box.dataset.state = "playing";
  } catch (error) {
    fail(error);
    box.dataset.state = "failed";
  } finally {
    begin.disabled = false;
  }
}

function act(kind, value, confidence) {
  try {
    const wire = { action_type: kind };
    if (value !== undefined) wire.value = value;
    if (confidence !== undefined) wire.confidence = confidence;
    refresh(JSON.parse(game.act(JSON.stringify(wire))));
  } catch (error) {
    fail(error);
  }
}

let screen, done;

function desk(view) {
  screen = el("div", { class: "lines", tabindex: "0", role: "region", "aria-label": "Screen" });
  done = el("ol", { class: "done" });
  const rules = el("details", {}, el("summary", {}, "All rules, as an agent is told them"), el("div", { class: "lines" }, game.rules()));
  stage.replaceChildren(el("div", { class: "desk" }, el("div", {}, screen, rules), el("div", {}, ...controls(view.choices), el("h2", {}, "What you did"), done)), question);
  refresh(view);
}

function refresh(view) {
  screen.replaceChildren(...view.screen.map((line) => el("div", { class: before.size && !before.has(line) ? "new" : "" }, line || " ")));
  screen.scrollTop = 0;
  before = new Set(view.screen);
  done.replaceChildren(...view.done.map(({ told, effect }) => el("li", {}, el("code", {}, told), effect === told ? "" : ` → ${effect}`)));
  say(view.closed ? "The incident is closed." : `${view.incident}, tick ${view.tick} of ${view.horizon}.`);
  if (view.closed) debrief();
}

function select(label, values, id) {
  const node = el("select", { id }, values.map((value) => el("option", { value }, value)));
  return [node, el("label", {}, label, node)];
}

const button = (text, onclick, given = {}) => el("button", { type: "button", onclick, ...given }, text);

function controls(choices) {
  const [asked, askedLabel] = select("service", choices.request_metrics, "asked");
  const [root, rootLabel] = select("root cause", choices.identify_root_cause, "root");
  const sure = el("input", { type: "number", min: "0", max: "1", step: "0.05", placeholder: "0 to 1", id: "sure" });
  const [team, teamLabel] = select("team", choices.escalate, "team");
  const pairs = choices.remediate.map((one) => one.split(":"));
  const [remedy, remedyLabel] = select("remedy", [...new Set(pairs.map(([name]) => name))], "remedy");
  const [mended, mendedLabel] = select("service", [...new Set(pairs.map(([, name]) => name))], "mended");
  const group = (name, ...parts) => el("fieldset", {}, el("legend", {}, name), el("div", { class: "row" }, ...parts));
  return [
    group("Ask", askedLabel, button("Logs", () => act("request_more_logs", asked.value)), button("Metrics", () => act("request_metrics", asked.value)), button("Traces", () => act("request_traces", asked.value)), button("Logs of all", () => act("request_more_logs", "all"))),
    group("Declare the severity", ...choices.classify_severity.map((one) => button(one, () => act("classify_severity", one)))),
    group("Declare the root cause", rootLabel, el("label", {}, "confidence, if you like", sure), button("Declare", () => act("identify_root_cause", root.value, sure.value === "" ? undefined : Number(sure.value)))),
    group("Page", teamLabel, button("Page", () => confirmed(`Page ${team.value}? A mis-page ends the incident with a grade of 0.`, () => act("escalate", team.value)))),
    group("Repair", remedyLabel, mendedLabel, button("Apply", () => act("remediate", `${remedy.value}:${mended.value}`))),
    group("Close", button("Resolve", () => confirmed("Resolve the incident? That ends it.", () => act("resolve"))), button("Ignore", () => confirmed("Close it as nothing to act on? That ends it.", () => act("ignore"))), ...(choices.hand_over ? [button("Hand over", () => confirmed("Hand it to the duty manager? That ends it.", () => act("hand_over")))] : []), button("Stop here", () => confirmed("Stop here and see the grade so far?", debrief))),
  ];
}

const asking = el("p");
let agreed = null;
const question = el("dialog", { "aria-label": "Are you sure?" }, asking,
  el("form", { method: "dialog" }, el("button", { class: "main", value: "yes" }, "Yes"), el("button", { value: "no" }, "No")));
question.addEventListener("close", () => {
  if (question.returnValue === "yes") agreed();
});

function confirmed(text, then) {
  asking.textContent = text;
  agreed = then;
  question.returnValue = "no";
  question.showModal();
}

function debrief() {
  try {
    const found = JSON.parse(game.debrief());
    if (pageAddress) URL.revokeObjectURL(pageAddress);
    pageAddress = URL.createObjectURL(new Blob([found.page], { type: "text/html" }));
    const id = current;
    const title = el("h2", { tabindex: "-1", id: "debrief" }, `Grade ${fixed(found.score)}`);
    const links = el("p", { class: "row" },
      el("a", { href: `${pageAddress}#/e/you/${id}`, target: "_blank" }, "The replay in its own tab"),
      el("a", { href: pageAddress, download: `replay-${id.replaceAll(/[/:]/g, "-")}.html` }, "Download the replay"),
      button("Another incident", () => number.focus()));
    stage.replaceChildren(
      title,
      el("p", {}, found.verdict),
      el("p", {}, `The scripted expert earns ${fixed(found.rival.score)} on this incident. ${found.rival.verdict}`),
      el("p", {}, el("a", { href: `${pageAddress}#/e/you/${id}?truth=1&with=expert`, target: "_blank" }, "You and the expert side by side, tick by tick")),
      el("table", {},
        el("thead", {}, el("tr", {}, ["criterion", "score", "weight", "reason"].map((one) => el("th", { scope: "col" }, one)))),
        el("tbody", {}, found.criteria.map(([name, score, weight, reason]) =>
          el("tr", {}, el("th", { scope: "row" }, name), el("td", { class: "number" }, fixed(score, 2)), el("td", { class: "number" }, fixed(weight, 2)), el("td", {}, reason))))),
      links,
      el("iframe", { title: "Replay of your episode", src: `${pageAddress}#/e/you/${id}?truth=1` }),
    );
    box.dataset.state = "over";
    title.focus();
  } catch (error) {
    fail(error);
  }
}

const TASKS = ["single_crash-v4", "cascading_failure-v4", "silent_degradation-v4", "fleet_outage-v4", "compound_failure-v4", "compound_fleet-v4", "unseen_world-v4"];
const named = location.hash.slice(1); // an incident, or a section of the page
const [task, , index] = (named.includes("/") ? named : FIRST).split("/");
const [tasks, tasksLabel] = select("task", TASKS, "task");
if (TASKS.includes(task)) tasks.value = task;
const number = el("input", { type: "number", min: "0", step: "1", id: "number", value: /^\d+$/.test(index ?? "") ? index : "24" });
const begin = el("button", { class: "main", id: "start" }, "Start");
const form = el("form", {}, tasksLabel, el("label", {}, "number", number), begin,
  button("Any", () => {
    number.value = String(Math.floor(Math.random() * 1_000_000));
    form.requestSubmit();
  }));
form.addEventListener("submit", (event) => {
  event.preventDefault();
  start(`${tasks.value}/test/${number.value}`);
});
box.replaceChildren(form, status, stage);
box.dataset.state = "ready";
if (location.protocol === "file:") fail("A browser loads no Python from disk. Serve the site: python -m http.server -d build/site");
