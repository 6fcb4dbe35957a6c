// What the page holds, and where the reader stands: the address is the only state.

const facts = JSON.parse(document.getElementById("data").textContent);
const [POLICY, TASK, INCIDENT, GRADE, GATE, OUTCOME, TICKS, FAULT, ROOTS, DECLARED, VERDICT, CHUNK, AT] =
  Array.from({ length: 13 }, (_, place) => place);

async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

let rows = [];
const chunks = new Map();

async function episodeOf(row) {
  const number = row[CHUNK];
  if (!chunks.has(number)) {
    if (chunks.size > 8) chunks.delete(chunks.keys().next().value);
    chunks.set(number, unpack(facts.chunks[number]));
  }
  const chunk = await chunks.get(number);
  return { row, ...chunk.episodes[row[AT]], lines: chunk.lines, world: chunk.incidents[row[INCIDENT]] };
}

const rowOf = (policy, incident) =>
  rows.find((row) => row[POLICY] === policy && row[INCIDENT] === incident);
const rivalsOf = (row) => rows.filter((one) => one[INCIDENT] === row[INCIDENT] && one !== row);

const spaced = (name) => name.replaceAll("_", " ");
const FILTERS = ["q", "policy", "task", "end", "sort"];
const [SOLVED, HANDED, UNSCORED] = ["solved", "handed over", "unscored"];

// How an episode ended: one of these three, or the way in which it failed. A hand-over is no failure.
function endOf(row) {
  if (row[GRADE] === null) return UNSCORED;
  if (row[GATE]) return row[GATE];
  if (row[OUTCOME] === "handed_over") return HANDED;
  return row[GRADE] >= facts.solved ? SOLVED : `${spaced(row[OUTCOME])}, below ${facts.solved}`;
}

const failed = (row) => ![SOLVED, HANDED, UNSCORED].includes(endOf(row));

// `#/?q=db` is the list, `#/e/<policy>/<incident>?t=3` an episode.
function readAddress() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  const given = new URLSearchParams(query);
  const parts = path.split("/").map((part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  });
  const filters = Object.fromEntries(FILTERS.map((name) => [name, given.get(name) ?? ""]));
  if (parts[0] !== "e") return { view: "list", filters };
  return {
    view: "episode",
    filters,
    policy: parts[1] ?? "",
    incident: parts.slice(2).join("/"),
    t: Number.parseInt(given.get("t") ?? "0", 10) || 0,
    truth: given.get("truth") === "1",
    rival: given.get("with"),
    service: given.get("service"),
  };
}

function addressOf(place) {
  const query = new URLSearchParams();
  if (place.view === "episode") {
    if (place.t) query.set("t", place.t);
    if (place.truth) query.set("truth", "1");
    if (place.rival) query.set("with", place.rival);
    if (place.service) query.set("service", place.service);
  }
  for (const name of FILTERS) if (place.filters?.[name]) query.set(name, place.filters[name]);
  const tail = query.size ? `?${query}` : "";
  if (place.view !== "episode") return `#/${tail}`;
  const incident = place.incident.split("/").map(encodeURIComponent).join("/");
  return `#/e/${encodeURIComponent(place.policy)}/${incident}${tail}`;
}

const ORDERS = {
  "": (a, b) => (a[GRADE] ?? -1) - (b[GRADE] ?? -1),
  played: () => 0,
  high: (a, b) => (b[GRADE] ?? -1) - (a[GRADE] ?? -1),
  ticks: (a, b) => (b[TICKS] ?? -1) - (a[TICKS] ?? -1),
  incident: (a, b) => a[INCIDENT].localeCompare(b[INCIDENT], "en", { numeric: true }),
};

function found(filters) {
  const words = filters.q.toLowerCase().split(/\s+/).filter(Boolean);
  const kept = rows.filter((row) => {
    if (filters.policy && row[POLICY] !== filters.policy) return false;
    if (filters.task && row[TASK] !== filters.task) return false;
    if (filters.end === "failed" ? !failed(row) : filters.end && endOf(row) !== filters.end) return false;
    if (!words.length) return true;
    const text = [row[POLICY], row[INCIDENT], endOf(row), row[FAULT], row[VERDICT], ...row[DECLARED], ...row[ROOTS]]
      .join(" ")
      .toLowerCase();
    return words.every((word) => text.includes(word));
  });
  return Object.hasOwn(ORDERS, filters.sort) ? kept.sort(ORDERS[filters.sort]) : kept;
}
