// The figures of a run, above the list of its episodes. Texts of cells come as they are shown.

const SECTIONS = { results: "Results", losses: "Parts of grades", scores: "Scores", criteria: "Criteria", places: "Root causes", episodes: "Episodes" };

function figuresView(figures) {
  const tables = Object.fromEntries(figures.tables.map((table) => [table.id, tableSection(table)]));
  const sections = { ...tables, scores: scoresSection(figures), criteria: criteriaSection(figures) };
  const shown = Object.keys(SECTIONS).filter((name) => sections[name] || name === "episodes");
  return el("div", { id: "figures" },
    el("dl", { class: "facts" }, figures.facts.map(([name, text]) => el("div", {}, el("dt", {}, name), el("dd", {}, text)))),
    figures.unfinished && el("p", { class: "alarm" }, figures.unfinished),
    el("nav", { "aria-label": "Sections" }, shown.map((name) => [el("a", { href: `#${name}` }, SECTIONS[name]), " "])),
    shown.map((name) => sections[name]));
}

function tableSection(table) {
  return el("section", { id: table.id }, el("h2", { class: "section" }, table.title), el("p", { class: "note" }, table.note), grid(table.title, table.head, table.groups));
}

function grid(label, head, groups) {
  return el("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": label }, el("table", { class: "results" },
    el("thead", {}, el("tr", {}, head.map((name) => el("th", { scope: "col" }, name)))),
    groups.map(([task, rows]) => el("tbody", {},
      task && el("tr", {}, el("th", { scope: "rowgroup", colspan: head.length, class: "task" }, el("span", {}, task))),
      rows.map(([name, ...cells]) => el("tr", {}, el("th", { scope: "row" }, name), cells.map((cell) => el("td", {}, cell.split(/ (?=\[)/).map((part, at) => (at ? el("small", {}, part) : part))))))))));
}

const width = (share) => `${(100 * share).toFixed(2)}%`;

function scoresSection(figures) {
  const bins = (plot, cell) => el("div", { class: "bins", "aria-hidden": "true" },
    cell.shares.map((share, at) => el("i", { style: `height:${width(share / plot.top)}` },
      at === 0 && cell.gated > 0 && el("i", { class: "lost", style: `height:${width(cell.gated / share)}` }))),
    cell.mean !== null && el("em", { style: `left:${width(cell.mean)}` }, "▲"));
  return plots("scores", "Score distributions", figures,
    "Share of the scored episodes in bins of 0.05, on one scale in each task; hatched: zero because a gate held. ▲ and the figure: the mean, and after ≥ the mean with unscored episodes as 0 where it is less.",
    bins, (plot) => plot.scores, () => 0);
}

function criteriaSection(figures) {
  const colour = (name) => `background:var(--c${figures.criteria[name]})`;
  const stack = (plot, cell) => {
    const place = (left, wide) => `left:${width((left - plot.least) / (1 - plot.least))};width:${width(wide / (1 - plot.least))}`;
    return el("div", { class: "stack", "aria-hidden": "true" },
      cell.stacked.map(([name, left, wide]) => el("i", { style: `${place(left, wide)};${colour(name)}`, title: name })),
      el("i", { class: "lost", style: place(...cell.lost) }));
  };
  const legend = el("ul", { class: "criteria" },
    Object.keys(figures.criteria).map((name) => el("li", {}, el("span", { class: "key", style: colour(name) }), spaced(name))),
    el("li", {}, el("span", { class: "key lost" }), "lost to a gate"));
  return plots("criteria", "Points by criterion", figures,
    "Mean points of each criterion as they count. What was earned in an episode that a gate then set to zero is hatched; the empty part was never earned.",
    stack, (plot) => plot.points, (plot) => plot.least, legend);
}

// A figure for each task: a row for each policy, the scale, and the same figures in a table.
function plots(id, title, figures, note, drawn, table, least, legend = null) {
  return el("section", { id }, el("h2", { class: "section" }, title), el("p", { class: "note" }, note), legend,
    el("div", { class: "panels" }, figures.plots.map((plot) => el("figure", {}, el("figcaption", {}, plot.task),
      el("div", { class: "chart" },
        plot.cells.map((cell) => [el("span", { class: "name" }, cell.policy), drawn(plot, cell), el("span", { class: "value" }, cell.value)]),
        el("div", { class: "scale", "aria-hidden": "true" }, [0, 0.25, 0.5, 0.75, 1].map((at) => el("span", { style: `left:${width((at - least(plot)) / (1 - least(plot)))}` }, String(at))))),
      el("details", {}, el("summary", {}, "Figures"), grid(`${title}, ${plot.task}`, table(plot).head, [[null, table(plot).rows]]))))));
}

const figuresNode = facts.figures ? figuresView(facts.figures) : null;
