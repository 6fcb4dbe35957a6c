// The address decides what is shown; keys and buttons change the address.

const main = document.getElementById("main");
const live = document.getElementById("live");
const keys = document.getElementById("keys");
const OVERLAID = 6; // other agents whose grade is drawn behind that of an episode
let place = readAddress();
let playing = null;
let drawn = "";

// Change where the reader stands. Ticks and searches leave no trail of steps to go back through.
function go(change, replace = false) {
  const next = addressOf({ ...place, ...change });
  if (next === location.hash) return;
  if (replace || "t" in change || "service" in change) {
    history.replaceState(null, "", next);
    show();
  } else location.hash = next;
}

async function show() {
  const asked = (place = readAddress());
  const kept = document.activeElement?.id;
  const scrolls = [...main.querySelectorAll(".scroll")].map((one) => [one.scrollLeft, one.scrollTop]);
  const view = asked.view === "list" ? listView(asked, go) : await episodeView(asked);
  if (asked !== place) return;
  const name = `${asked.view} ${asked.policy} ${asked.incident} ${asked.rival}`;
  const was = drawn;
  const same = name === was;
  drawn = name;
  const cursor = kept === "search" ? document.getElementById("search").selectionStart : null;
  document.body.dataset.view = asked.view;
  main.replaceChildren(...view.flat().filter(Boolean));
  if (same) [...main.querySelectorAll(".scroll")].forEach((one, at) => ([one.scrollLeft, one.scrollTop] = scrolls[at] ?? [0, 0]));
  else if (was && figuresNode && asked.view === "list") document.getElementById("episodes").scrollIntoView(); // back from an episode
  else window.scrollTo(0, 0);
  for (const now of main.querySelectorAll(".cells .now")) reveal(now, now.closest(".scroll"));
  for (const now of main.querySelectorAll(".lanes rect.now")) reveal(now, now.closest(".scroll"));
  const focused = kept && main.querySelector(`#${CSS.escape(kept)}`);
  if (focused) {
    focused.focus({ preventScroll: true });
    if (cursor !== null) focused.setSelectionRange(cursor, cursor);
  }
  cue();
  main.dataset.ready = location.hash;
}

// What goes on beyond the edge of a box fades out there.
function cue() {
  for (const box of document.querySelectorAll(".scroll")) {
    box.classList.toggle("before", box.scrollLeft > 1);
    box.classList.toggle("after", box.scrollLeft + box.clientWidth < box.scrollWidth - 1);
  }
}
document.addEventListener("scroll", cue, true);
document.addEventListener("toggle", cue, true);
window.addEventListener("resize", cue);

function reveal(node, box) {
  const [inner, outer] = [node.getBoundingClientRect(), box.getBoundingClientRect()];
  if (inner.left < outer.left || inner.right > outer.right) box.scrollLeft += inner.left - outer.left - outer.width / 2 + inner.width / 2;
}

async function episodeView(asked) {
  const row = rowOf(asked.policy, asked.incident);
  if (!row) return [el("h1", {}, "No such episode"), el("p", {}, `This page holds no episode of ${asked.policy || "nobody"} on ${asked.incident || "nothing"}. `, el("a", { href: "#/" }, "All episodes"))];
  const episode = await episodeOf(row);
  const rivals = rivalsOf(row);
  const rivalRow = rivals.find((one) => one[POLICY] === asked.rival);
  const rival = rivalRow ? await episodeOf(rivalRow) : null;
  episode.others = rival ? [] : await Promise.all(rivals.slice(0, OVERLAID).map(episodeOf));
  const most = Math.max(episode.ticks.length, rival?.ticks.length ?? 0) - 1;
  asked.last = most;
  asked.t = Math.min(most, Math.max(0, asked.t));
  const here = { ...asked, t: Math.min(asked.t, episode.ticks.length - 1) };
  document.title = `${row[POLICY]} on ${row[INCIDENT]} · tick ${here.t}`;
  live.textContent = `Tick ${here.t} of ${episode.ticks.length - 1}: ${toldAt(episode, here.t)}`;
  return [heading(episode, asked, rivals), asked.truth && truthLine(episode), rival ? both(episode, rival, asked) : single(episode, here)];
}

function heading(episode, asked, rivals) {
  const row = episode.row;
  const list = found(asked.filters);
  const at = list.indexOf(row);
  const step = (by) => list[at + by];
  return el("div", { class: "heading" },
    el("h1", {}, el("span", { class: `grade ${row[GATE] ? "bad" : ""}` }, fixed(row[GRADE])), ` ${row[POLICY]} `, el("small", {}, `on ${row[INCIDENT]}`)),
    el("p", { class: "verdict" }, row[VERDICT]),
    episode.belief && thenLine(episode),
    el("p", { class: "tools" },
      el("a", { href: addressOf({ view: "list", filters: asked.filters }) }, "All episodes"),
      el("button", { type: "button", id: "previous", disabled: !step(-1), onclick: () => walk(-1) }, "Previous ", el("kbd", {}, "K")),
      el("button", { type: "button", id: "next", disabled: !step(1), onclick: () => walk(1) }, "Next ", el("kbd", {}, "J")),
      el("button", { type: "button", id: "play", "aria-pressed": String(playing !== null), onclick: play }, playing === null ? "Play " : "Stop ", el("kbd", {}, "Space")),
      el("button", { type: "button", id: "truth", "aria-pressed": String(asked.truth), onclick: () => go({ truth: !asked.truth }, true) }, asked.truth ? "Hide the truth " : "Show the truth ", el("kbd", {}, "T")),
      rivals.length ? el("label", {}, "Compare with ", el("select", { id: "rival", onchange: (event) => go({ rival: event.target.value || null }) },
        el("option", { value: "" }, "nobody"), rivals.map((one) => el("option", { value: one[POLICY], selected: asked.rival === one[POLICY] }, `${one[POLICY]} (${fixed(one[GRADE])})`)))) : null));
}

// How likely each decision was right when it was made, by the belief of that tick.
function thenLine(episode) {
  const told = episode.belief.flatMap((one, t) => (one.then ?? []).map((words) => [t, words]));
  if (!told.length) return null;
  return el("p", { class: "verdict then" }, "When it decided: ", told.map(([t, words]) =>
    el("span", {}, el("button", { type: "button", class: "link", onclick: () => go({ t }) }, `tick ${t}`), ` ${words}`)));
}

function truthLine(episode) {
  return el("dl", { class: "truth" }, episode.world.truth.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
}

function single(episode, here) {
  return [
    episode.cause && el("p", { class: "alarm" }, `Not scored: ${episode.cause}`),
    scrubber(episode, here, go),
    facts.roles && lanes(episode, here, go),
    actionPanel(episode, here),
    facts.roles && el("div", { class: "screens" }, screenPanels(episode, here)),
    el("div", { class: `board-of-panels ${episode.world.services.length > 20 ? "many" : ""}` },
      el("div", { class: "column map" }, panel("Services", { class: "services" }, edgePanel(episode, here), drawGraph(episode, here, go))),
      el("div", { class: "column" }, facts.roles ? talkPanel(episode, here) : screenPanels(episode, here)),
      el("div", { class: "column thought" }, beliefPanel(episode, here)),
      el("div", { class: "column result" }, gradePanel(episode, here, go))),
  ];
}

function both(one, other, asked) {
  const parted = divergence(one, other);
  const told = parted === null ? "Both did the same throughout."
    : `${parted ? `The same until tick ${parted}: there` : "They part at once:"} ${one.row[POLICY]} ${sentence(one, parted)}, and ${other.row[POLICY]} ${sentence(other, parted)}.`;
  const points = (episode) => new Map(episode.falls.map((fall) => [spaced(fall.name), fall.points]));
  const [mine, theirs] = [points(one), points(other)];
  const apart = [...new Set([...mine.keys(), ...theirs.keys()])].map((name) => [name, (mine.get(name) ?? 0) - (theirs.get(name) ?? 0)]).filter(([, by]) => Math.abs(by) > 0.0005);
  const side = (episode, mark) => {
    const here = { ...asked, side: mark, service: null, t: Math.min(asked.t, episode.ticks.length - 1) };
    return el("section", { class: "side", "aria-label": `${episode.row[POLICY]}` },
      el("h2", { class: "who" }, el("span", { class: `grade ${episode.gate ? "bad" : ""}` }, fixed(episode.row[GRADE])), ` ${episode.row[POLICY]}`,
        here.t < asked.t ? el("small", {}, ` ${ended(episode)} at tick ${here.t}`) : null),
      scrubber(episode, here, go, parted, mark),
      actionPanel(episode, here),
      panel("Services", { class: "services" }, drawGraph(episode, here, go)),
      screenPanels(episode, here, ` (${episode.row[POLICY]})`), facts.roles && talkPanel(episode, here), beliefPanel(episode, here), gradePanel(episode, here, go));
  };
  return [
    el("p", { class: "parting" }, apart.length ? [el("b", {}, `${one.row[POLICY]} beside ${other.row[POLICY]}: `), apart.map(([name, by], at) => [at ? ", " : "", `${name} `, el("b", { class: signClass(by) }, signed(by))]), ". "] : null, told, " ", parted === null ? null : el("button", { type: "button", class: "link", onclick: () => go({ t: parted }) }, `Go to tick ${parted}`)),
    el("div", { class: "sides" }, side(one, "-a"), side(other, "-b")),
  ];
}

function walk(by) {
  const list = found(place.filters);
  const at = list.findIndex((row) => row[POLICY] === place.policy && row[INCIDENT] === place.incident);
  const next = list[at + by];
  if (!next) return;
  stop();
  const rival = rivalsOf(next).some((row) => row[POLICY] === place.rival) ? place.rival : null;
  location.hash = addressOf({ ...place, policy: next[POLICY], incident: next[INCIDENT], t: 0, service: null, rival });
}

function stop() {
  clearInterval(playing);
  playing = null;
}

function play() {
  if (playing !== null) {
    stop();
    show();
    return;
  }
  const from = place.t >= place.last ? 0 : place.t;
  playing = setInterval(() => {
    if (place.view !== "episode" || place.t >= place.last) {
      stop();
      show();
    } else go({ t: place.t + 1 });
  }, 900);
  if (from !== place.t) go({ t: from });
  else show();
}

function contrast() {
  const rivals = rivalsOf(rowOf(place.policy, place.incident) ?? []).map((row) => row[POLICY]);
  const before = facts.changes.filter(([after]) => after.includes(place.policy)).flatMap(([, olds]) => olds);
  if (place.rival || rivals.length) go({ rival: place.rival ? null : before.find((name) => rivals.includes(name)) ?? rivals[0] });
}

const EPISODE_KEYS = {
  ArrowLeft: () => go({ t: Math.max(0, place.t - 1) }),
  ArrowRight: () => go({ t: Math.min(place.last, place.t + 1) }),
  Home: () => go({ t: 0 }),
  End: () => go({ t: place.last }),
  " ": play,
  j: () => walk(1),
  k: () => walk(-1),
  t: () => go({ truth: !place.truth }, true),
  c: contrast,
  Escape: () => (location.hash = addressOf({ view: "list", filters: place.filters })),
};

// The episode of the list that has the focus, or the first: the next in a direction.
function step(by) {
  const links = [...main.querySelectorAll(".episodes tbody a")];
  const at = links.indexOf(document.activeElement);
  links[at < 0 ? 0 : Math.min(links.length - 1, Math.max(0, at + by))]?.focus();
}

const LIST_KEYS = { j: () => step(1), k: () => step(-1) };

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || keys.open) return;
  const typing = event.target.closest?.("input, select, textarea");
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (typing) {
    if (key === "Escape") typing.blur();
    return;
  }
  if (key === " " && event.target.closest?.("button, a, summary")) return;
  let act = (place.view === "episode" ? EPISODE_KEYS : LIST_KEYS)[key];
  if (key === "?") act = () => keys.showModal();
  if (key === "/") act = search;
  if (!act) return;
  event.preventDefault();
  act();
});

async function search() {
  if (place.view !== "list") {
    history.pushState(null, "", addressOf({ view: "list", filters: place.filters }));
    await show();
  }
  document.getElementById("search").focus();
}

document.getElementById("help").addEventListener("click", () => keys.showModal());
window.addEventListener("hashchange", () => {
  if (place.view === "list" && !location.hash.startsWith("#/")) return; // a section of this page
  if (readAddress().view === "list") stop();
  show();
});
rows = await unpack(facts.index);
await show();
