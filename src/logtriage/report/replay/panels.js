// What stands beside the graph: screen, action, belief, and the grade.

function actionPanel(episode, place) {
  const tick = episode.ticks[place.t];
  if (!tick.acts) return panel(episode.closed ? "Closed" : "Left open", { class: "action" }, ending(episode));
  const weighed = episode.steps?.[place.t];
  const earned = [tick.total === undefined ? null : changeOf(episode, place.t), weighed && el("p", { class: "note" }, weighed)];
  const alone = tick.acts.length === 1;
  return panel(`Tick ${place.t}: what was done${tick.acts.some((act) => act.reasoning) ? " and said" : ""}`, { class: "action" },
    el("div", { class: "acts" }, tick.acts.map((act) => actOf(act, alone ? earned : null))),
    alone ? null : earned, journal(episode, place));
}

// An action as it is told; a report of findings is a row of them, none broken.
const FINDING = /^\S+\/-?\d+=\S+$/;
const findings = (act) => (act.kind === "report" && act.value.split(" ").every((word) => FINDING.test(word)) ? act.value.split(" ") : null);
const chips = (act) => findings(act).flatMap((word) => [el("code", { class: "finding" }, word), " "]);
const toldOf = (act) => el("span", { class: "told" }, findings(act) ? ["report ", ...chips(act)] : el("code", {}, whole(act.told)));

function ending(episode) {
  const row = episode.row;
  const told = [];
  if (row[GRADE] === null) told.push(el("p", { class: "alarm" }, `Not scored: ${episode.cause}`));
  else told.push(el("p", { class: "big" }, icon("end", 20), ` ${row[OUTCOME].replaceAll("_", " ")}, grade ${fixed(row[GRADE])}`));
  if (episode.gate) told.push(el("p", { class: "alarm" }, `Gate ${episode.gate}: ${episode.gateReason}. The grade is 0, whatever was earned.`));
  if (episode.unplayed) told.push(el("p", { class: "note" }, `${plural(episode.unplayed, "further action")} came after the closing one and never counted.`));
  return told;
}

function actOf(act, earned) {
  const role = act.role === null ? null : facts.roles.roles[act.role].name;
  const effect = act.effect === act.told ? null : act.effect.startsWith(`${act.told}: `) ? act.effect.slice(act.told.length + 2) : act.effect;
  return el("div", { class: `act ${act.reasoning || earned ? "spoke" : ""}` },
    el("div", {},
      el("p", { class: "big" }, icon(act.kind, 20), role && el("b", {}, ` ${role}`), " ", toldOf(act),
        act.confidence !== undefined && el("small", {}, ` confidence ${fixed(act.confidence, 2)}`)),
      effect && el("p", { class: "note" }, `→ ${effect}`),
      act.wrote !== undefined && el("blockquote", { class: "wrote" }, act.wrote), act.reasoning && earned),
    !act.reasoning && earned && el("div", {}, earned),
    act.reasoning && el("blockquote", { class: "reasoning", tabindex: "0", role: "region", "aria-label": "What the agent said" }, act.reasoning),
  );
}

// Everything that was done and said, a row for each action; open stays open from tick to tick.
let journalOpen = false;

function journal(episode, place) {
  const rows = episode.ticks.flatMap((tick, t) => (tick.acts ?? []).filter((act) => act.kind !== "wait" || act.reasoning).map((act) => [t, act]));
  const spoke = rows.some(([, act]) => act.reasoning);
  const last = episode.ticks.length - 1;
  return el("details", { class: "journal", open: journalOpen, ontoggle: (event) => (journalOpen = event.target.open) },
    el("summary", {}, spoke ? "Everything that was done and said" : "Everything that was done"),
    el("table", { class: `episodes ${spoke ? "spoke" : ""}` }, el("tbody", {}, rows.map(([t, act]) => {
      const board = boardOf(act);
      const to = board ? heardBy(act, t, board, last) : [];
      return el("tr", { class: t === place.t ? "now" : t < place.t ? "" : "later" },
        el("td", {}, el("button", { type: "button", class: "link", onclick: () => go({ t }) }, `tick ${t}`)),
        el("td", { class: "wraps" }, act.role === null ? null : el("b", {}, `${facts.roles.roles[act.role].name} `), toldOf(act),
          board && el("small", { class: "heard" }, to.length ? `seen by ${to.map((one) => hearing(one, t)).join(", ")}` : "seen by no one else in time")),
        spoke && el("td", { class: "wraps said" }, act.reasoning ?? ""));
    }))));
}

function changeOf(episode, t) {
  const earned = episode.ticks[t + 1].total - episode.ticks[t].total;
  const what = (episode.ticks[t].changed ?? []).map(([name, points]) =>
    el("li", {}, name, points === null ? null : el("b", { class: signClass(points) }, ` ${signed(points)}`)),
  );
  return el("div", { class: "earned" },
    el("p", {}, "Reward ", el("b", { class: signClass(earned) }, signed(earned)), `, grade after it ${fixed(episode.ticks[t + 1].total)}`),
    what.length ? el("ul", { class: "changes" }, what) : null,
  );
}

function screenPanels(episode, place, side = "") {
  const tick = episode.ticks[place.t];
  if (!tick.screens) return panel("Screen", {}, el("p", { class: "note" }, "The screens of this episode are left out to keep the page small. ", !facts.shifts && commandFor(episode)));
  const before = place.t ? episode.ticks[place.t - 1].screens : null;
  return tick.screens.map(([numbers, marks], seat) => {
    const old = new Set(before?.[seat]?.[0] ?? []);
    const marked = new Map(marks);
    const lines = numbers.map((number, at) => lineOf(episode.lines[number], !before || !old.has(number), place.truth ? marked.get(at) : 0));
    const role = tick.screens.length > 1 ? facts.roles.roles[seat].name : null;
    const title = role ? `${role} sees` : episode.answered ? "What logtriage’s screens show" : "What the agent saw";
    return panel(title, { class: "screen" },
      el("div", { class: "lines", tabindex: "0", role: "region", "aria-label": `${title}${side}, tick ${place.t}` }, lines));
  });
}

function lineOf(text, fresh, mark) {
  const tag = mark === 1 ? "tells" : mark === 2 ? "misleads" : null;
  return el("div", { class: `line ${fresh ? "new" : "old"} ${tag ?? ""}` }, whole(text), tag && el("span", { class: "tag" }, tag));
}

// A run of shifts has no page of a single incident.
const commandFor = (episode) => [
  el("code", {}, `logtriage replay RUN ${facts.shifts ? "--beliefs N" : episode.row[INCIDENT]}`), " makes a page that has them.",
];

function bars(rows, before, own) {
  const was = new Map(before ?? []);
  return el("ul", { class: "bars" }, rows.map(([name, share]) => {
    const ghost = was.get(name) ?? -1;
    return el("li", { class: own?.includes(name) ? "own" : "" },
      el("span", { class: "label", title: name }, name, own?.includes(name) && el("small", {}, " true")),
      el("span", { class: "bar", "aria-hidden": "true" },
        el("span", { class: "fill", style: `width:${100 * share}%` }),
        ghost >= 0 && Math.max(ghost, share) > 0.005 && el("span", { class: "ghost", style: `left:${100 * ghost}%` })),
      el("span", { class: "value" }, percent(share)));
  }));
}

function beliefPanel(episode, place) {
  if (!episode.world.belief) {
    const why = episode.world.recorded ? "This incident was recorded" : "This incident is one of the original's";
    return panel("Belief", {}, el("p", { class: "note" }, `${why}: the probabilities of its telemetry are not known, so there is no exact belief, and luck cannot be told from judgement.`));
  }
  if (!facts.numpy)
    return panel("Belief", {}, el("p", { class: "note" }, "The exact belief takes NumPy, and this page was made in a browser without it."));
  if (!episode.belief)
    return panel("Belief", {}, el("p", { class: "note" }, `Beliefs are worked out for ${facts.believed} of the ${facts.episodes} episodes here; this is not one of them, so its verdict says nothing about luck. `, commandFor(episode)));
  const now = episode.belief[place.t];
  const before = place.t ? episode.belief[place.t - 1] : null;
  const truth = Object.fromEntries(episode.world.truth);
  const split = (text) => (place.truth && text ? text.split(/ or |, /) : []);
  const roots = [...now.roots.slice(0, 6), ["benign", now.benign]].sort((a, b) => b[1] - a[1]);
  const parts = [
    el("p", { class: "note" }, `What an ideal observer of ${facts.roles ? "all that the roles saw" : "these screens"} believes; the thin line is the tick before.`),
    el("h3", {}, "Root cause"), bars(roots, before && [...before.roots, ["benign", before.benign]], place.truth ? (episode.world.roots.length ? episode.world.roots.map((root) => episode.world.services[root][0]) : ["benign"]) : []),
    el("h3", {}, "Team to page"), bars(now.teams, before?.teams, split(truth.page)),
    el("h3", {}, "Severity"), bars(now.severities, before?.severities, split(truth.severity)),
    doubt(episode, place.t),
  ];
  if (now.asks) parts.push(...asks(episode, place, now));
  return panel("Belief", { class: "belief" }, parts);
}

function doubt(episode, t) {
  const bits = episode.belief.map((one) => one.bits);
  return el("p", { class: "doubt" }, el("button", { type: "button", class: "link", onclick: () => axes("Doubt", "bits", [["belief", bits]], t) }, `Doubt ${fixed(bits[t], 2)} bits`), trail(bits, t));
}

// A small line of a figure over all ticks, with a dot at this one.
function trail(values, t) {
  const top = Math.max(...values, 0.1);
  const wide = 120;
  const x = (place) => (values.length > 1 ? (place * wide) / (values.length - 1) : 0);
  const y = (place) => 22 - (20 * values[place]) / top;
  return svg("svg", { viewBox: `-3 0 ${wide + 6} 24`, width: 126, height: 24, "aria-hidden": "true" },
    svg("polyline", { points: values.map((_, place) => `${x(place).toFixed(1)},${y(place).toFixed(1)}`).join(" "), class: "curve" }),
    svg("circle", { class: "dot", cx: x(t), cy: y(t), r: 3 }));
}

function asks(episode, place, now) {
  const done = (episode.ticks[place.t].acts ?? []).map((act) => act.told);
  const same = done.includes(now.observer);
  const best = Math.max(...now.asks.map((one) => Math.abs(one[1])), 1e-9);
  return [
    el("h3", {}, "What asking was worth"),
    el("table", { class: "asks" },
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "request"), el("th", { scope: "col" }, "grade"), el("th", { scope: "col" }, "bits"))),
      el("tbody", {}, now.asks.map(([told, grade, bits]) =>
        el("tr", { class: done.includes(told) ? "own" : "" },
          el("th", { scope: "row" }, whole(told), done.includes(told) && el("small", {}, " asked")),
          el("td", { class: signClass(grade) }, signed(grade),
            el("span", { class: "mini", "aria-hidden": "true", style: `width:${(28 * Math.max(0, grade)) / best}px` })),
          el("td", {}, fixed(bits, 2)))))),
    el("p", { class: "observer" }, "The observer would ", el("code", {}, whole(now.observer)), same ? " – as was done." : ".",
      ` The best plan without asking is worth ${fixed(now.value)}.`),
  ];
}

// Steps that add up to a grade: what adds is drawn to the right with a plus, what takes to the left.
function cascade(steps, grade) {
  let total = 0;
  const ends = steps.map(({ points }) => (total += points));
  const [least, most] = [Math.min(0, ...ends), Math.max(1, ...ends)];
  const scale = (value) => (100 * (Math.min(most, value) - least)) / (most - least);
  total = 0;
  const items = steps.map(({ name, detail, points, whole, reason }) => {
    const [low, high] = [Math.min(total, total + points), Math.max(total, total + points)];
    const from = total;
    total += points;
    return el("li", {},
      el("span", { class: "label" }, name, detail && el("small", {}, ` ${detail}`)),
      el("span", { class: "bar", "aria-hidden": "true" },
        whole > 0 && el("span", { class: "whole", style: `left:${scale(from)}%;width:${scale(from + whole) - scale(from)}%` }),
        el("span", { class: `fill ${points < 0 ? "lost" : "won"}`, style: `left:${scale(low)}%;width:${scale(high) - scale(low)}%` })),
      el("span", { class: `value ${signClass(points)}` }, signed(points)),
      el("span", { class: "reason" }, reason));
  });
  return el("ol", { class: "waterfall" }, items,
    el("li", { class: "sum" }, el("span", { class: "label" }, "grade"),
      el("span", { class: "bar", "aria-hidden": "true" }, el("span", { class: "fill total", style: `left:${scale(0)}%;width:${scale(grade) - scale(0)}%` })),
      el("span", { class: "value" }, fixed(grade))));
}

function gradePanel(episode, place, go) {
  if (!episode.falls.length) return panel("Grade", {}, ending(episode));
  const steps = episode.falls.map((fall) => ({
    ...fall,
    name: spaced(fall.name),
    detail: fall.kind === "criterion" ? `${fixed(fall.score, 2)} × ${fixed(fall.weight, 2)}` : fall.kind === "discount" ? `× ${fixed(fall.score, 2)}` : fall.kind,
    whole: fall.kind === "criterion" ? fall.weight : 0,
    reason: [fall.reason, " ", fall.tick === null ? null : el("button", { type: "button", class: "link", onclick: () => go({ t: fall.tick }) }, `decided at tick ${fall.tick}${deciderOf(episode, fall)}`)],
  }));
  return panel("Grade", { class: "grade-panel" }, cascade(steps, episode.row[GRADE]), hindsight(episode));
}

const PART_WORDS = {
  "at first": "the expected grade before any action",
  "asking gained": "what the requests were expected to add",
  decisions: "what all other actions were expected to change, by what was known then",
  luck: "what came of it, beside what was expected",
};

function hindsight(episode) {
  if (!episode.world.belief) return null;
  if (!episode.parts) {
    const why = facts.roles ? "A team’s grade is not split into parts: a tick has several actions."
      : facts.shifts ? "The grade of an incident of a shift is not split into parts."
      : episode.row[OUTCOME] === "open" ? "The agent left the incident open, so its grade is not split into parts."
      : !facts.numpy ? "Not explained: that takes NumPy."
      : episode.world.unexplained ? `Not explained: ${episode.world.unexplained}.` : ["Not explained. ", commandFor(episode)];
    return [el("h3", {}, "How it came about"), el("p", { class: "note" }, why)];
  }
  return [
    el("h3", {}, "How it came about"),
    cascade(episode.parts.map(([name, points]) => ({ name, points, reason: PART_WORDS[name] })), episode.row[GRADE]),
    el("p", { class: "note" }, `All evidence together would leave ${fixed(episode.hardness)} of the grade in doubt.`),
  ];
}
