// The services, layered by calls: what the agent knows of each, and on demand the truth.

const STATES = {
  a: "an alert fires",
  s: "signs of trouble",
  c: "seen, ordinary",
  "?": "not known",
};
const PARTS = {
  root: "root cause",
  path: "affected by the root",
  lookalike: "looks ill, needs no one",
  minor: "minor fault",
  noise: "noise",
};
const COLUMN = 130;
const MARGIN = 16; // beside the outer columns, for what stands left of a service

// A state is a shape as much as a colour.
function shape(state, x, y, r = 12) {
  if (state === "a") return svg("path", { class: "state a", d: `M${x} ${y - r - 1}L${x + r + 1} ${y + r - 1}H${x - r - 1}Z` });
  if (state === "s") return svg("path", { class: "state s", d: `M${x} ${y - r - 1}L${x + r + 1} ${y}L${x} ${y + r + 1}L${x - r - 1} ${y}Z` });
  const circle = svg("circle", { class: `state ${state === "c" ? "c" : "u"}`, cx: x, cy: y, r: r - 1 });
  return state === "c" ? circle : svg("g", {}, circle, svg("text", { class: "ask", x, y: y + 4.5 }, "?"));
}

const WIDEST = 20; // characters of a name that fit beside its neighbours

// A name in whole: what is longer than its column goes on in a second line, broken at a hyphen.
function named(name, attributes, widest = WIDEST) {
  const lines = [];
  for (const half of name.length > widest ? name.split(/(?<=:)/) : [name]) {
    lines.push("");
    for (const part of half.split(/(?<=[-_ ])/)) {
      if (lines.at(-1).length + part.length > widest && lines.at(-1)) lines.push("");
      lines[lines.length - 1] += part;
    }
  }
  const { x, y } = attributes;
  return svg("text", { ...attributes, y: y - (lines.length - 1) * 5 }, lines.map((line, at) => svg("tspan", { x, dy: at ? 11 : 0 }, line)));
}

// Of the services declared by a tick those that count, one for each fault.
function declaredBy(episode, t) {
  const acts = episode.ticks.slice(0, t).flatMap((tick) => tick.acts ?? []).filter((act) => act.kind === "identify_root_cause");
  return [...new Set(acts.map((act) => act.value))].slice(0, episode.world.faults);
}

function drawGraph(episode, place, go) {
  const { services, layout, parts, roots } = episode.world;
  const tick = episode.ticks[place.t];
  if (!tick.known) return el("p", { class: "note" }, "This episode is held without its screens, so what the agent knew of each service is not told.");
  const wide = Math.max(3, ...countRows(layout)) * COLUMN;
  const many = services.length > 20;
  const deep = many ? 80 : 106; // between rows
  const tall = (Math.max(...layout.map(([, row]) => row)) + 1) * deep - (many ? 10 : 24);
  const at = layout.map(([x, row]) => [x * wide, row * deep + 24]);
  const index = new Map(services.map(([name], number) => [name, number]));
  const declared = declaredBy(episode, place.t);
  const picture = svg("svg", {
    class: "graph",
    viewBox: `${-MARGIN} 0 ${wide + 2 * MARGIN} ${tall}`,
    style: `max-width:${wide * 1.25}px;min-width:${many ? wide * 0.92 : 0}px`,
    role: "group",
    "aria-label": `Services at tick ${place.t}, ${episode.row[POLICY]}`,
  });
  services.forEach(([, , , calls], caller) => {
    for (const callee of calls) picture.append(call(at, caller, callee, many ? 33 : place.truth ? 58 : 46, place.truth && onPath(parts, caller, callee)));
  });
  services.forEach(([name, tier, owner], number) => {
    const [x, y] = at[number];
    const state = tick.known[number];
    const [part, words] = parts[number];
    const told = [name, STATES[state], `owned by ${owner}`];
    if (place.truth && PARTS[part]) told.push(`truth: ${PARTS[part]}${words ? ` (${words})` : ""}`);
    if (declared.includes(name)) told.push("declared root cause");
    const node = svg("g", {
      class: `node ${place.service === name ? "chosen" : ""}`,
      id: `service${place.side ?? ""}-${number}`,
      role: "button",
      tabindex: "0",
      "aria-pressed": String(place.service === name),
      onclick: () => go({ service: place.service === name ? null : name }),
      onkeydown: (event) => {
        if (event.key !== "Enter") return;
        event.preventDefault();
        go({ service: place.service === name ? null : name });
      },
    });
    const drawing = svg("g", { "aria-hidden": "true" });
    node.append(svg("title", {}, told.join(", ")), drawing);
    drawing.append(svg("rect", { class: "hit", x: x - COLUMN / 2 + 2, y: y - 22, width: COLUMN - 4, height: deep - (many ? 6 : 28), rx: 8 }));
    if (place.truth) drawing.append(...truthOf(tick.levels[number], part, words, x, y, many));
    drawing.append(shape(state, x, y));
    drawing.append(named(name, { class: "name", x, y: y + 29 }));
    if (!many) drawing.append(svg("text", { class: "owner", x, y: y + 42 }, owner));
    drawing.append(spark(episode, number, place.t, x + 21, y + 9));
    if (declared.includes(name))
      drawing.append(svg("text", { class: "declared", x: x - 20, y: y + 4 }, "declared ▸"));
    picture.append(node);
  });
  for (const root of place.truth ? roots : []) picture.append(svg("text", { class: "root-word", x: at[root][0] + 22, y: at[root][1] - 9 }, "ROOT"));
  return el("div", {}, el("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": `Service graph of ${episode.row[POLICY]}` }, picture), legend(place), chosen(episode, place, index));
}

function countRows(layout) {
  const counts = new Map();
  for (const [, row] of layout) counts.set(row, (counts.get(row) ?? 0) + 1);
  return counts.values();
}

// From below the caller's name to the top of what it calls.
function call(at, caller, callee, name, hot) {
  const [x1, y1] = at[caller];
  const [x2, y2] = at[callee];
  const low = y1 + (y2 > y1 ? name : -14);
  const high = y2 + (y2 > y1 ? -16 : name);
  const bend = (high - low) / 2;
  const d = `M${x1} ${low}C${x1} ${low + bend} ${x2} ${high - bend} ${x2} ${high}`;
  return svg("path", { class: hot ? "call hot" : "call", d });
}

const onPath = (parts, caller, callee) =>
  parts[caller][2] > 0 && parts[callee][2] >= 0 && parts[caller][2] > parts[callee][2];

function truthOf(level, part, words, x, y, many) {
  const drawn = [];
  if (level > 0) drawn.push(svg("circle", { class: "halo", cx: x, cy: y, r: 14 + (level / 100) * 7 }));
  if (part === "root") drawn.push(svg("circle", { class: "ring root", cx: x, cy: y, r: 18 }), svg("circle", { class: "ring root", cx: x, cy: y, r: 21.5 }));
  else if (part === "path" || part === "lookalike") drawn.push(svg("circle", { class: "ring path", cx: x, cy: y, r: 18 }));
  else if (part === "minor" || part === "noise") drawn.push(svg("circle", { class: `ring ${part}`, cx: x, cy: y, r: 18 }));
  if (words) drawn.push(named(words, { class: "part", x, y: y + (many ? 42 : 54) }));
  return drawn;
}

// Readings out of the ordinary on each screen so far.
function spark(episode, number, t, x, y) {
  const counts = episode.ticks.slice(0, t + 1).map((tick) => tick.signs?.[number] ?? 0);
  const step = Math.min(4, 32 / Math.max(1, counts.length));
  const bars = counts.map((count, place) => {
    const height = Math.min(4, count) * 3.5;
    return height ? `M${(x + (place + 0.5) * step).toFixed(1)} ${y}v${-height}` : "";
  });
  return svg("path", { class: "spark", d: bars.join("") || `M${x} ${y}`, "stroke-width": Math.max(1, step - 1) });
}

function legend(place) {
  const items = Object.entries(STATES).map(([state, words]) =>
    el("li", {}, svg("svg", { viewBox: "0 0 30 30", width: 18, height: 18, "aria-hidden": "true" }, shape(state, 15, 16)), words),
  );
  items.push(el("li", {}, svg("svg", { viewBox: "0 0 18 18", width: 16, height: 16, "aria-hidden": "true" }, svg("path", { class: "spark", d: "M4 15v-4M9 15v-10M14 15v-7", "stroke-width": 3 })), "signs on each screen so far"));
  if (place.truth)
    for (const [part, words] of [["root", "root"], ["path", "affected"], ["minor", "minor fault"], ["noise", "noise"]])
      items.push(el("li", {}, svg("svg", { viewBox: "0 0 18 18", width: 16, height: 16, "aria-hidden": "true" }, svg("circle", { class: `ring ${part}`, cx: 9, cy: 9, r: 6.5 }), part === "root" && svg("circle", { class: "ring root", cx: 9, cy: 9, r: 3.5 })), words));
  return el("ul", { class: "legend" }, items);
}

const HEADING = /^(METRICS|TRACES|REQUESTED LOGS|LOGS|HEALTH|SIGNALS|CHANGES|DIRECTORY|DECLARED|REPORTS)\b/;

// Everything on the screens so far that names the service that was chosen.
function chosen(episode, place, index) {
  const number = index.get(place.service);
  if (number === undefined) return null;
  const [name, tier, owner, calls] = episode.world.services[number];
  const { services } = episode.world;
  const callers = services.filter((one) => one[3].includes(number)).map((one) => one[0]);
  const seen = new Map();
  episode.ticks.slice(0, place.t + 1).forEach((tick, t) => {
    for (const [numbers] of tick.screens ?? []) {
      let inside = false; // a panel of this service, whose lines do not name it again
      for (const line of numbers) {
        const text = episode.lines[line];
        if (HEADING.test(text)) inside = /^(METRICS|TRACES)/.test(text) && text.split(" ")[1] === name;
        if (inside) {
          if (!seen.has(text)) seen.set(text, t);
          continue;
        }
        if (/^(DIRECTORY|DECLARED|LAST|TICK)/.test(text)) continue;
        if (!text.split(/[^\w.-]+/).some((word) => word.replace(/\.$/, "") === name)) continue;
        if (!seen.has(text)) seen.set(text, t);
      }
    }
  });
  const lines = [...seen].map(([text, t]) => el("li", {}, el("span", { class: "tick" }, `tick ${t}`), el("code", {}, whole(text))));
  return el("div", { class: "chosen-service" },
    el("h3", {}, name),
    el("p", { class: "note" }, `${tier}, owned by ${owner}. Calls ${calls.map((one) => services[one][0]).join(", ") || "nothing"}; called by ${callers.join(", ") || "users"}.`),
    el("ul", { class: "seen" }, lines.length ? lines : el("li", {}, "Nothing on the screens so far names it.")),
  );
}
