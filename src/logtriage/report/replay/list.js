// The list of episodes, searched and filtered, and what their failures have in common.

const SHOWN = 200;

const spaced = (name) => name.replaceAll("_", " ");

function listView(place, go) {
  const kept = found(place.filters);
  document.title = `${facts.title} · logtriage replay`;
  return [
    el("h1", {}, facts.title),
    facts.headlines.map(([policy, words]) => el("p", { class: "headline" }, el("b", {}, policy), ` ${words}`)),
    figuresNode,
    figuresNode && el("h2", { class: "section", id: "episodes" }, "Episodes"),
    el("p", { class: "note" }, `${plural(rows.length, "episode")}${facts.roles ? ` of teams (${facts.roles.name})` : ""}. ${held()}`),
    filterForm(place, go),
    failures(kept, place),
    el("section", { class: "panel", "aria-labelledby": "episodes-title" },
      el("h2", { id: "episodes-title" }, `${plural(kept.length, "episode")}${kept.length < rows.length ? ` of ${rows.length}` : ""}`),
      table(kept, place)),
  ];
}

function held() {
  const told = [];
  if (facts.shown < facts.episodes) told.push(`Screens are held for ${facts.shown}, the most telling ones; actions, rewards and reasons for all.`);
  if (facts.beliefs && facts.believed < facts.episodes) told.push(`Beliefs are worked out for ${facts.believed}.`);
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
    el("label", { class: "wide" }, "Search", el("input", { type: "search", name: "q", id: "search", value: place.filters.q, placeholder: "incident, policy, fault, service, gate", oninput: change })),
    choose("policy", facts.roles ? "Team" : "Policy", [["", "all"], ...values(POLICY).map((one) => [one, one])]),
    choose("task", "Task", [["", "all"], ...values(TASK).map((one) => [one, one])]),
    choose("gate", "Gate", [["", "any or none"], ["none", "none"], ["any", "any"], ...values(GATE).map((one) => [one, one])]),
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
  const declared = row[DECLARED] === null ? "–" : row[ROOTS].includes(row[DECLARED]) ? `✓ ${row[DECLARED]}` : `✗ ${row[DECLARED]}`;
  return el("tr", {},
    el("td", { class: "score" }, el("span", { class: "gauge", "aria-hidden": "true" }, el("span", { style: `width:${100 * Math.min(1, Math.max(0, row[GRADE] ?? 0))}%` })), fixed(row[GRADE])),
    el("td", { class: "agent" }, row[POLICY]),
    el("th", { scope: "row" }, el("a", { href: address }, row[INCIDENT]), el("small", { class: "verdict" }, row[VERDICT])),
    el("td", { class: "outcome" }, spaced(row[OUTCOME]), row[GATE] && el("b", { class: "gate" }, ` ${row[GATE]}`)),
    el("td", { class: "fault" }, row[FAULT] !== null ? faultsOf(row) : row[ROOTS].length ? "–" : "benign"),
    el("td", { class: "declared" }, row[GRADE] === null ? "–" : declared),
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
  for (const row of kept) {
    const name = key(row);
    if (name === null || name === undefined) continue;
    if (!found.has(name)) found.set(name, []);
    found.get(name).push(row);
  }
  return [...found].sort((a, b) => b[1].length - a[1].length);
}

const mean = (some) => some.reduce((sum, row) => sum + row[GRADE], 0) / some.length;

function failures(kept, place) {
  const scored = kept.filter((row) => row[GRADE] !== null);
  if (!scored.length || facts.solved === null) return null;
  const failed = scored.filter((row) => row[GRADE] < facts.solved);
  const wrong = tally(scored, (row) => row[DECLARED] !== null && row[ROOTS].length && !row[ROOTS].includes(row[DECLARED]) ? `${row[DECLARED]}, not ${row[ROOTS].join(" or ")}` : null);
  const gates = tally(scored, (row) => row[GATE]);
  const places = tally(scored, (row) => row[PLACE]).sort((a, b) => Object.keys(facts.places).indexOf(a[0]) - Object.keys(facts.places).indexOf(b[0]));
  const faults = tally(scored, (row) => row[FAULT] ?? (row[ROOTS].length ? null : "benign")).sort((a, b) => mean(a[1]) - mean(b[1]));
  const search = (words) => addressOf({ view: "list", filters: { ...place.filters, q: words } });
  const outcome = tally(failed, (row) => (row[GATE] ? `gate ${spaced(row[GATE])}` : `${spaced(row[OUTCOME])}, grade below ${facts.solved}`));
  return el("section", { class: "panel failures", "aria-labelledby": "failures-title" },
    el("h2", { id: "failures-title" }, `Failures: ${failed.length} of ${scored.length} scored episodes below ${facts.solved}`),
    el("div", { class: "columns" },
      counts("How they ended", outcome, failed.length),
      gates.length ? counts("Gates by agent", tally(gates.flatMap((one) => one[1]), (row) => `${row[POLICY]}: ${spaced(row[GATE])}`), gates.flatMap((one) => one[1]).length) : null,
      counts("Declared root, seen from the true one", places.map(([name, some]) => [facts.places[name] ?? name, some]), places.reduce((sum, one) => sum + one[1].length, 0)),
      counts("Wrong services", wrong, wrong.reduce((sum, one) => sum + one[1].length, 0)),
      el("div", {}, el("h3", {}, "Mean grade by fault"),
        el("ul", { class: "bars" }, faults.slice(0, 8).map(([name, some]) => el("li", {},
          el("span", { class: "label" }, name === "benign" ? name : el("a", { href: search(name) }, spaced(name))),
          el("span", { class: "bar", "aria-hidden": "true" }, el("span", { class: "fill", style: `width:${100 * Math.max(0, mean(some))}%` })),
          el("span", { class: "value" }, `${fixed(mean(some), 2)} (n = ${some.length})`)))))));
}

function counts(title, some, whole) {
  return el("div", {}, el("h3", {}, title),
    some.length ? el("ul", { class: "bars" }, some.slice(0, 8).map(([name, found]) => el("li", {},
      el("span", { class: "label", title: name }, name),
      el("span", { class: "bar", "aria-hidden": "true" }, el("span", { class: "fill", style: `width:${(100 * found.length) / whole}%` })),
      el("span", { class: "value" }, String(found.length))))) : el("p", { class: "note" }, "None."),
    some.length > 8 && el("p", { class: "note" }, `and ${some.length - 8} more`));
}
