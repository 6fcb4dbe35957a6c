// Time: the scrubber with the reward so far, and the swim lanes of a team.

const ended = (episode) => (episode.closed ? "closed" : "left open");

function toldAt(episode, t) {
  const acts = episode.ticks[t]?.acts;
  return acts ? acts.map((act) => act.told).join("; ") : ended(episode);
}

// The action that decided a step of the grade, with its role.
function deciderOf(episode, { tick, place }) {
  const act = episode.ticks[tick].acts?.[place];
  if (!act) return ", as time passed";
  return ` by ${act.role === null ? "" : `${facts.roles.roles[act.role].name}: `}${act.told}`;
}

// With how sure the agent was, and the beginning of what nobody understood.
function sentence(episode, t) {
  const more = ({ confidence, wrote }) => (confidence !== undefined ? ` (confidence ${confidence})` : wrote !== undefined ? ` (${wrote.slice(0, 60)})` : "");
  const acts = episode.ticks[t]?.acts;
  return acts ? `did ${acts.map((act) => act.told + more(act)).join("; ")}` : `was ${ended(episode)}`;
}

const exactly = (episode, t) => JSON.stringify(episode.ticks[t]?.acts?.map(({ told, confidence, wrote }) => [told, confidence, wrote]));

// The first tick at which two episodes on one incident part; null if they never do.
function divergence(one, other) {
  const count = Math.max(one.ticks.length, other.ticks.length);
  for (let t = 0; t < count; t += 1) if (exactly(one, t) !== exactly(other, t)) return t;
  return null;
}

function scrubber(episode, place, go, parted = null, side = "") {
  const last = episode.ticks.length - 1;
  const cells = episode.ticks.map((tick, t) => {
    const acts = (tick.acts ?? []).filter((act) => act.kind !== "wait");
    const icons = tick.acts ? (acts.length ? acts.slice(0, 3).map((act) => icon(act.kind, 16)) : [icon("wait", 16)]) : [icon("end", 16)];
    const earned = t < last && tick.total !== undefined ? episode.ticks[t + 1].total - tick.total : 0;
    const told = `Tick ${t}: ${toldAt(episode, t)}${earned ? `, reward ${signed(earned)}` : ""}${t === parted ? "; the agents part here" : ""}`;
    return el("li", { class: t === parted ? "parted" : "" },
      el("button", { type: "button", id: `tick${side}-${t}`, title: told, "aria-current": t === place.t ? "step" : null, class: t === place.t ? "now" : "", onclick: () => go({ t }) },
        el("span", { class: "hidden" }, told),
        el("span", { class: "icons" }, icons), el("span", { class: "number", "aria-hidden": "true" }, String(t)),
        el("span", { class: `earned ${signClass(earned)}`, "aria-hidden": "true" }, earned ? signed(earned, 2) : "\u00a0")));
  });
  const scored = episode.ticks[0].total !== undefined;
  return el("div", { class: "scrub scroll", role: "region", "aria-label": `Ticks of ${episode.row[POLICY]}`, tabindex: "0" },
    el("ol", { class: "cells", style: `--count:${last + 1}` }, cells),
    scored && rewardLine(episode, place.t));
}

function rewardLine(episode, t) {
  const count = episode.ticks.length;
  const totals = episode.ticks.map((tick) => tick.total);
  const low = Math.min(0, ...totals);
  const y = (value) => 40 - (36 * (value - low)) / (1 - low);
  const points = totals.map((value, at) => `${at + 0.5},${y(value).toFixed(2)}`);
  const before = points.slice(0, t + 1);
  const others = (episode.others ?? []).filter((one) => one.ticks[0].total !== undefined);
  const chart = () => axes("Grade so far", "", [episode, ...others].map((one) => [one.row[POLICY], one.ticks.map((tick) => tick.total)]), t);
  return el("div", { class: "reward", style: `--count:${count}` },
    svg("svg", { viewBox: `0 0 ${count} 44`, preserveAspectRatio: "none", role: "img", "aria-label": `Grade so far: ${totals.map((one) => fixed(one, 2)).join(", ")}` },
      svg("path", { class: "base", d: `M0 ${y(0)}H${count}` }),
      svg("path", { class: "base top", d: `M0 ${y(1)}H${count}` }),
      others.map((one) => svg("polyline", { class: "curve other", points: one.ticks.slice(0, count).map((tick, at) => `${at + 0.5},${y(tick.total).toFixed(2)}`).join(" ") })),
      svg("polyline", { class: "curve faint", points: points.join(" ") }),
      svg("polyline", { class: "curve", points: before.join(" ") })),
    el("button", { type: "button", class: "so-far link", onclick: chart }, `grade before this tick ${fixed(totals[t])}${others.length ? `, beside ${plural(others.length, "other agent")}` : ""}`));
}

// What users see at the edge, from the screens so far.
function edgePanel(episode, place) {
  const seen = episode.ticks.slice(0, place.t + 1).map((tick) => tick.edge);
  if (!seen.some(Boolean)) return null;
  const charts = [["errors", 0, (value) => `${(value / 100).toFixed(2)} %`], ["p99", 1, (value) => `${value} ms`]]
    .filter(([, field]) => seen.some((one) => one && one[field] !== null)); // errors are not always recorded
  return el("div", { class: "edge" }, charts.map(([name, field, words]) => {
    const values = seen.map((one) => one?.[field] ?? null);
    const usual = seen.find(Boolean)[field + 2];
    const top = Math.max(...values, usual ?? 0, 1);
    const wide = episode.ticks.length - 1 || 1;
    const y = (value) => 26 - (24 * value) / top;
    const unit = field ? "ms" : "%";
    const drawn = values.map((one) => (one === null ? null : one / (field ? 1 : 100)));
    const plain = usual === undefined ? [] : [["usual", seen.map(() => usual / (field ? 1 : 100))]];
    const chart = () => axes(`${name} at the edge`, unit, [["seen", drawn], ...plain], place.t);
    return el("p", {}, el("button", { type: "button", class: "label link", onclick: chart }, `${name} at the edge`), " ",
      svg("svg", { viewBox: `-0.2 0 ${wide + 0.4} 28`, preserveAspectRatio: "none", "aria-hidden": "true" },
        usual !== undefined && svg("path", { class: "base", d: `M0 ${y(usual)}H${wide}` }),
        svg("polyline", { class: "curve", points: values.map((value, t) => (value === null ? "" : `${t},${y(value).toFixed(1)}`)).join(" ") })),
      el("b", {}, values.at(-1) === null ? "not known" : words(values.at(-1))), usual === undefined ? null : el("small", {}, ` usual ${words(usual)}`));
  }));
}

const CELL = 108; // the least width of a tick
const LANE = 66; // with room for a mark and two lines below it
const LETTER = 6.2;

// The board that an action is read on, if it is.
const boardOf = (act) => (act.role === null ? null : act.kind === "report" ? "reports" : ["identify_root_cause", "classify_severity", "escalate"].includes(act.kind) ? "declarations" : null);

// Whom a report or a declaration reached, and on the screen of which tick.
function heardBy(act, t, board, last) {
  if (act.heard) return act.heard.map(([role, at]) => ({ role, at }));
  return facts.roles.roles
    .map((role, number) => ({ role: number, at: t + 1 + (role.may.includes(act.kind) ? 0 : role.delay ?? 0) }))
    .filter(({ role, at }) => role !== act.role && at <= last && facts.roles.roles[role].views.includes(board));
}

function hearing({ role, at }, t) {
  return facts.roles.roles[role].name + (at > t + 1 ? ` (in tick ${at})` : "");
}

function lanes(episode, place, go) {
  const { roles } = facts.roles;
  const count = episode.ticks.length;
  const label = Math.max(...roles.map((role) => role.name.length)) * 7.5 + 10;
  const cell = Math.max(CELL, (main.clientWidth - label - 32) / count);
  const wide = count * cell;
  const tall = roles.length * LANE + 26;
  const x = (t) => (t + 0.5) * cell;
  const y = (role) => 24 + (role + 0.5) * LANE;
  const picture = svg("svg", { class: "lanes", viewBox: `0 0 ${wide} ${tall}`, width: wide, height: tall, role: "img", "aria-label": "What each role did in each tick, and what it told the others" });
  picture.append(svg("rect", { class: "now", x: place.t * cell, y: 0, width: cell, height: tall, rx: 6 }));
  // Names stand beside the lanes, not in them: on a narrow page the lanes scroll away below.
  const names = svg("svg", { class: "lanes names", viewBox: `0 0 ${label} ${tall}`, width: label, height: tall, "aria-hidden": "true" });
  roles.forEach((role, number) => {
    picture.append(svg("path", { class: "lane", d: `M0 ${y(number)}H${wide}` }));
    names.append(svg("text", { class: "role", x: 4, y: y(number) + 4 }, role.name));
  });
  episode.ticks.forEach((tick, t) => {
    picture.append(svg("text", { class: "t", x: x(t), y: 14 }, String(t)));
    for (const act of tick.acts ?? []) {
      const board = boardOf(act);
      if (board) {
        for (const { role, at } of heardBy(act, t, board, count - 1)) picture.append(svg("path", { class: `message ${board}`, d: `M${x(t) + 12} ${y(act.role)}C${x(t) + cell / 2} ${y(act.role)} ${x(at) - cell / 2} ${y(role)} ${x(at) - 14} ${y(role)}`, "marker-end": "url(#tip)" }));
      }
    }
  });
  // Marks stand above the messages, whoever sent them.
  episode.ticks.forEach((tick, t) => {
    for (const act of tick.acts ?? []) {
      const mark = icon(act.kind, 18);
      fill(mark, { x: x(t) - 9, y: y(act.role) - 9 }, []);
      picture.append(svg("circle", { class: act.kind === "wait" ? "seat idle" : "seat", cx: x(t), cy: y(act.role), r: 13 }), mark);
      const words = act.kind !== "report" ? act.value : findings(act) ? plural(findings(act).length, "finding") : "a message";
      picture.append(named(words, { class: "value", x: x(t), y: y(act.role) + 29 }, Math.floor(cell / LETTER)));
    }
    picture.append(svg("rect", { class: "hit", x: t * cell, y: 0, width: cell, height: tall, onclick: () => go({ t }) }));
  });
  picture.prepend(svg("defs", {}, svg("marker", { id: "tip", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 6, markerHeight: 6, orient: "auto" }, svg("path", { d: "M0 0L8 4L0 8Z" }))));
  return panel("Who did what", { class: "swim" },
    el("div", { class: "pool" }, names, el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Swim lanes" }, picture)),
    el("ul", { class: "legend" },
      ["reports", "declarations"].map((board) => el("li", {}, svg("svg", { class: "lanes", width: 26, height: 10, viewBox: "0 0 26 10" }, svg("path", { class: `message ${board}`, d: "M0 5H26" })), board === "reports" ? "a report, to who reads it" : "a severity, root cause or page, to who sees it")),
      [...new Set(episode.ticks.flatMap((tick) => (tick.acts ?? []).map((act) => act.kind)))].map((kind) => el("li", {}, icon(kind), spaced(kind)))),
    episode.ticks.some((tick) => tick.acts?.some(findings)) && el("p", { class: "note" },
      "A finding is what was read, its tick, and what it showed: ", el("code", { class: "finding" }, "user-db/alert.0/-6=errors"), " is the first alert rule of user-db in tick −6, which fired on errors (none: it did not fire); ",
      el("code", { class: "finding" }, "edge.0/3=P2/P2"), " is the edge in tick 3, whose errors and p99 were each as bad as at a P2."));
}
