// What changed beside another run, the list of episodes, and how they ended.

const SHOWN = 100;
const TELLING = 5; // incidents of a pair whose grades changed most

function listView(place, go) {
  const kept = found(place.filters);
  document.title = `${facts.title} · logtriage replay`;
  return [
    el("h1", {}, facts.title),
    facts.changes.length && el("section", { class: "panel changed", "aria-labelledby": "changed-title" },
      el("h2", { id: "changed-title" }, "What changed"), facts.changes.map(changed)),
    facts.headlines.map(([policy, words]) => el("p", { class: "headline" }, el("b", {}, policy), ` ${words}`)),
    figuresNode,
    figuresNode && el("h2", { class: "section", id: "episodes" }, "Episodes"),
    el("p", { class: "note" }, `${plural(rows.length, "episode")}${facts.roles ? ` of teams (${facts.roles.name})` : ""}. ${held()}`),
    filterForm(place, go),
    endings(kept, place),
    el("section", { class: "panel", "aria-labelledby": "episodes-title" },
      el("h2", { id: "episodes-title" }, `${plural(kept.length, "episode")}${kept.length < rows.length ? ` of ${rows.length}` : ""}`),
      table(kept, place)),
  ];
}

function held() {
  const told = [];
  if (facts.shown < facts.episodes) told.push(`Screens are held for ${facts.shown}, the most telling ones; actions, rewards and reasons for all.`);
  if (facts.beliefs && facts.believed < facts.episodes) told.push(`Beliefs are worked out for ${facts.believed}; of the others no verdict says what was luck.`);
  return told.join(" ");
}

function filterForm(place, go) {
  const values = (field) => [...new Set(rows.map((row) => row[field]).filter(Boolean))];
  const choose = (name, label, options) =>
    el("label", {}, label, el("select", { name, id: `filter-${name}`, onchange: change },
      options.map(([value, words]) => el("option", { value, selected: place.filters[name] === value }, words))));
  function change() {
    const given = Object.fromEntries(new FormData(form));
    go({ filters: Object.fromEntries(FILTERS.map((name) => [name, given[name] ?? ""])) }, true);
  }
  const form = el("form", { class: "filters", role: "search", onsubmit: (event) => event.preventDefault() },
    el("label", { class: "wide" }, "Search", el("input", { type: "search", name: "q", id: "search", value: place.filters.q, placeholder: "incident, agent, fault, service, end", oninput: change })),
    choose("policy", facts.roles ? "Team" : "Agent", [["", "all"], ...values(POLICY).map((one) => [one, one])]),
    choose("task", "Task", [["", "all"], ...values(TASK).map((one) => [one, one])]),
    choose("end", "Ended", [["", "any way"], ["failed", "failed"], ...new Set(rows.map(endOf))].map((one) => (Array.isArray(one) ? one : [one, one]))),
    choose("sort", "Sort", [["", "lowest grade first"], ["played", "as played"], ["high", "highest grade first"], ["ticks", "most ticks first"], ["incident", "by incident"]]));
  return form;
}

function table(kept, place) {
  const body = el("tbody");
  let shown = 0;
  const more = el("button", { type: "button", onclick: extend });
  function extend() {
    for (const row of kept.slice(shown, shown + SHOWN)) body.append(rowView(row, place));
    shown = Math.min(kept.length, shown + SHOWN);
    more.hidden = shown >= kept.length;
    more.textContent = `Show ${Math.min(SHOWN, kept.length - shown)} more`;
  }
  extend();
  if (!kept.length) return el("p", { class: "note" }, "No episode matches.");
  return [
    el("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": "Episodes" }, el("table", { class: "episodes" },
      el("thead", {}, el("tr", {}, ["grade", "agent", "incident", "outcome", "fault", "declared", "ticks"].map((name) => el("th", { scope: "col" }, name)))), body)),
    more,
  ];
}

function rowView(row, place) {
  const address = addressOf({ view: "episode", policy: row[POLICY], incident: row[INCIDENT], filters: place.filters });
  const declared = row[DECLARED].map((name) => `${row[ROOTS].includes(name) ? "✓" : "✗"} ${name}`).join(", ") || "–";
  return el("tr", {},
    el("td", { class: "score" }, el("span", { class: "gauge", "aria-hidden": "true" }, el("span", { style: `width:${100 * Math.min(1, Math.max(0, row[GRADE] ?? 0))}%` })), fixed(row[GRADE])),
    el("td", { class: "agent" }, row[POLICY]),
    el("th", { scope: "row" }, el("a", { href: address }, row[INCIDENT]), el("small", { class: "verdict" }, row[VERDICT])),
    el("td", { class: "outcome" }, failed(row) ? el("b", { class: "gate" }, endOf(row)) : endOf(row)),
    el("td", { class: "fault" }, row[FAULT] !== null ? faultsOf(row) : row[ROOTS].length ? "–" : "benign"),
    el("td", { class: "declared" }, declared),
    el("td", { class: "number" }, row[TICKS] ?? "–"));
}

// Of several faults each kind with its own root; of one fault any of the roots is accepted.
function faultsOf(row) {
  const kinds = spaced(row[FAULT]).split(" + ");
  if (kinds.length < 2) return `${kinds[0]} on ${row[ROOTS].join(", ")}`;
  return kinds.map((kind, at) => `${kind} on ${row[ROOTS][at]}`).join(", ");
}

function tally(kept, key) {
  const found = new Map();
  for (const row of kept)
    for (const name of [key(row)].flat()) found.set(name, [...(found.get(name) ?? []), row]);
  return [...found].sort((a, b) => b[1].length - a[1].length);
}

const mean = (some) => some.reduce((sum, row) => sum + row[GRADE], 0) / some.length;

// The scored rows of an agent's attempts, by incident.
function attempts(policies) {
  const found = new Map();
  for (const row of rows) if (policies.includes(row[POLICY]) && row[GRADE] !== null) found.set(row[INCIDENT], [...(found.get(row[INCIDENT]) ?? []), row]);
  return found;
}

// A pair of agents on the incidents that both played, by the mean attempt: what changed most first.
function changed([after, before, words]) {
  const old = attempts(before);
  const pairs = [...attempts(after)].filter(([incident]) => old.has(incident)).map(([incident, now]) => {
    const [is, was] = [mean(now), mean(old.get(incident))];
    const by = Math.abs(is - was) < 1e-9 ? 0 : is - was; // sums of the same grades in another order
    return { incident, is, was, by, row: now.reduce((least, row) => (row[GRADE] < least[GRADE] ? row : least)) };
  });
  const sides = [["worse", pairs.filter((one) => one.by < 0).sort((a, b) => a.by - b.by)], ["better", pairs.filter((one) => one.by > 0).sort((a, b) => b.by - a.by)]];
  return el("div", {}, el("p", { class: "headline" }, el("b", {}, after[0]), " beside ", el("b", {}, before[0]), `: ${words}; ${sides.map(([way, some]) => `${some.length} ${way}`).join(", ")}, ${pairs.filter((one) => !one.by).length} the same`),
    sides.some(([, some]) => some.length) && el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `${after[0]} beside ${before[0]}` }, el("table", { class: "episodes" },
      el("thead", {}, el("tr", {}, ["change", "was", "is", "incident", "what decides it now"].map((name) => el("th", { scope: "col" }, name)))),
      el("tbody", {}, sides.flatMap(([, some]) => some.slice(0, TELLING)).map(({ incident, is, was, by, row }) => el("tr", {},
        el("td", { class: `score ${signClass(by)}` }, signed(by)), el("td", {}, fixed(was)), el("td", {}, fixed(is)),
        el("th", { scope: "row" }, el("a", { href: addressOf({ view: "episode", policy: row[POLICY], incident, rival: old.get(incident)[0][POLICY] }) }, incident)),
        el("td", { class: "wraps" }, after.length > 1 ? `${row[POLICY]}: ${row[VERDICT]}` : row[VERDICT])))))));
}

// How the episodes of each agent ended; those of the run's own agents stand first and apart.
function endings(kept, place) {
  if (!kept.length) return null;
  const own = (agent) => place.filters.policy || facts.own.includes(agent);
  const ways = tally(kept.filter(failed), endOf).map(([name]) => name);
  const unscored = kept.some((row) => endOf(row) === UNSCORED);
  const columns = [[SOLVED, SOLVED], [HANDED, HANDED], ["failed", "failed"], ...ways.map((way) => [way, way]), ...(unscored ? [[UNSCORED, UNSCORED]] : [])];
  const cell = (agent, some, end) => {
    const found = some.filter((row) => (end === "failed" ? failed(row) : endOf(row) === end));
    const address = addressOf({ view: "list", filters: { ...place.filters, policy: agent, end } });
    return el("td", {}, found.length ? el("a", { href: address }, String(found.length)) : "0", end === HANDED && found.length ? el("small", {}, `worth ${fixed(mean(found), 2)}`) : null);
  };
  const agents = tally(kept, (row) => row[POLICY]);
  const groups = [[null, agents.filter(([agent]) => own(agent))], ["beside them", agents.filter(([agent]) => !own(agent))]];
  const mine = kept.filter((row) => own(row[POLICY]) && row[GRADE] !== null);
  const wrong = tally(mine, (row) => row[ROOTS].length ? row[DECLARED].filter((name) => !row[ROOTS].includes(name)).map((name) => `${name}, not ${row[ROOTS].join(" or ")}`) : []);
  const faults = tally(mine, (row) => row[FAULT] ?? (row[ROOTS].length ? [] : "benign")).sort((a, b) => mean(a[1]) - mean(b[1]));
  const search = (words) => addressOf({ view: "list", filters: { ...place.filters, q: words } });
  return el("section", { class: "panel failures", "aria-labelledby": "endings-title" },
    el("h2", { id: "endings-title" }, "How episodes ended"),
    el("p", { class: "note" }, `Solved: a grade of at least ${facts.solved}, and not handed over. Failed: the rest, by what decided it.`),
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "How episodes ended" }, el("table", { class: "results ends" },
      el("thead", {}, el("tr", {}, ["agent", "episodes", ...columns.map(([name]) => name)].map((name) => el("th", { scope: "col" }, name)))),
      groups.map(([title, some]) => some.length ? el("tbody", {},
        title && groups[0][1].length ? el("tr", {}, el("th", { scope: "rowgroup", colspan: columns.length + 2, class: "task" }, title)) : null,
        some.map(([agent, played]) => el("tr", {}, el("th", { scope: "row" }, agent), el("td", {}, String(played.length)), columns.map(([, end]) => cell(agent, played, end))))) : null))),
    mine.length ? el("div", { class: "columns" },
      wrong.length ? counts("Wrong root causes", wrong, wrong.reduce((sum, one) => sum + one[1].length, 0)) : null,
      el("div", {}, el("h3", {}, `Mean grade by fault${groups[1][1].length ? `, of ${groups[0][1].map(([agent]) => agent).join(", ")}` : ""}`),
        el("ul", { class: "bars" }, faults.slice(0, 12).map(([name, some]) => el("li", {},
          el("span", { class: "label" }, name === "benign" ? name : el("a", { href: search(name) }, spaced(name))),
          el("span", { class: "bar", "aria-hidden": "true" }, el("span", { class: "fill", style: `width:${100 * Math.max(0, mean(some))}%` })),
          el("span", { class: "value" }, `${fixed(mean(some), 2)} of ${some.length}`)))), further(faults, 12))) : null);
}

function counts(title, some, whole) {
  return el("div", {}, el("h3", {}, title),
    some.length ? el("ul", { class: "bars" }, some.slice(0, 8).map(([name, found]) => el("li", {},
      el("span", { class: "label", title: name }, name),
      el("span", { class: "bar", "aria-hidden": "true" }, el("span", { class: "fill", style: `width:${(100 * found.length) / whole}%` })),
      el("span", { class: "value" }, String(found.length))))) : el("p", { class: "note" }, "None."),
    further(some, 8));
}

const further = (some, shown) => some.length > shown && el("p", { class: "note" }, `and ${some.length - shown} more`);
