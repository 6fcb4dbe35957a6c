// What the roles know on a screen, together and alone, and the news on it.

function talkPanel(episode, place) {
  const { roles } = facts.roles;
  const news = newsAt(episode, place.t);
  const known = episode.ticks[place.t].doubts;
  if (!known && !news.length) return null;
  return panel("Who knows what", { class: "talk" },
    known && el("p", { class: "note" }, "What is left in doubt of all that any role was shown, and of what each was shown by itself, without what it was told. Between the two lies, on average, what the roles must tell each other."),
    known && el("table", { class: "asks" },
      el("thead", {}, el("tr", {}, ["shown to", "doubt, bits", "likeliest root cause"].map((title) => el("th", { scope: "col" }, title)))),
      el("tbody", {}, known.map(([bits, root, share], row) =>
        el("tr", { class: row ? "" : "own" },
          el("th", { scope: "row" }, row ? roles[row - 1].name : "all roles"),
          el("td", {}, fixed(bits, 2), trail(episode.ticks.map((tick) => tick.doubts[row][0]), place.t)),
          el("td", {}, `${root ?? "benign"} ${percent(share)}`))))),
    el("h3", {}, "News on these screens"),
    news.length ? el("ul", { class: "news" }, news.map(([t, act, one]) =>
      el("li", {}, el("b", {}, roles[one.role].name), " reads of ", el("b", {}, roles[act.role].name), ": ", findings(act) ? chips(act) : el("code", {}, whole(act.value)))))
      : el("p", { class: "note" }, "None."));
}

// The reports that came up on screens of a tick, one for each listener.
function newsAt(episode, t) {
  return episode.ticks.flatMap((tick, when) => (tick.acts ?? []).filter((act) => act.heard)
    .flatMap((act) => heardBy(act).filter((one) => one.at === t).map((one) => [when, act, one])));
}
