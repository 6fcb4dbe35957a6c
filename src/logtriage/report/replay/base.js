// Elements, numbers and icons. Text is only ever set as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat(2).filter((one) => one !== null && one !== undefined && one !== false));
  return node;
}

const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);

const fixed = (value, digits = 3) =>
  value === null || value === undefined ? "–" : value.toFixed(digits).replace("-", "−");
const rounded = (value, digits) => Number(value.toFixed(digits));
const signed = (value, digits = 3) =>
  rounded(value, digits) === 0 ? "0" : (value > 0 ? "+" : "") + fixed(value, digits);
const percent = (share) =>
  share > 0 && share < 0.005 ? "<1 %" : share < 1 && share > 0.995 ? ">99 %" : Math.round(100 * share) + " %";
const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
const signClass = (value) => (value >= 0.0005 ? "plus" : value <= -0.0005 ? "minus" : "zero");

// One path for each kind of action, in a square of 16.
const ICONS = {
  request_more_logs: "M3 3.5h10M3 6.5h7M3 9.5h10M3 12.5h5",
  request_metrics: "M3 13V8M7 13V3M11 13V6M14 13H2",
  request_traces: "M2.5 4h6M5.5 8h6M8.5 12h5M8.5 4v4M11.5 8v4",
  classify_severity: "M4 14V2.5h8.5l-2 3 2 3H4",
  identify_root_cause: "M8 2.2a5.8 5.8 0 1 0 0 11.6a5.8 5.8 0 1 0 0-11.6M8 5.6a2.4 2.4 0 1 0 0 4.8a2.4 2.4 0 1 0 0-4.8",
  escalate: "M3.5 12h9c-1.2-1.2-1.2-2.5-1.2-4.8a3.3 3.3 0 0 0-6.6 0c0 2.3 0 3.6-1.2 4.8M6.8 14h2.4",
  remediate: "M13.5 4.2a3.4 3.4 0 0 1-4.6 4.2L4.6 13.2 2.8 11.4 7.6 7.1a3.4 3.4 0 0 1 4.2-4.6L9.8 4.6l1.6 1.6z",
  resolve: "M2.5 8.5l3.7 3.8L13.5 4",
  ignore: "M8 2.2a5.8 5.8 0 1 0 0 11.6a5.8 5.8 0 1 0 0-11.6M4.5 11.5l7-7",
  hand_over: "M2.5 8h8M7.5 4.5L11 8l-3.5 3.5M13.5 3v10",
  report: "M2.5 3.5h11v7h-6l-3 3v-3h-2z",
  wait: "M5.5 3.5v9M10.5 3.5v9",
  malformed: "M8 2.5v7.5M8 12.6v.9",
  end: "M4 3v10M4 3.5h8v5H4",
};

function icon(kind, size = 16) {
  const path = svg("path", { d: ICONS[kind] ?? ICONS.malformed });
  return svg("svg", { class: `icon k-${kind}`, viewBox: "0 0 16 16", width: size, height: size, "aria-hidden": "true" }, path);
}

function panel(title, attributes, ...children) {
  return el("section", { ...attributes, class: `panel ${attributes?.class ?? ""}` }, el("h2", {}, title), children);
}
