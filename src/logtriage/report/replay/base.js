// Elements, numbers and icons. Text is only ever set as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat(Infinity).filter((one) => one !== null && one !== undefined && one !== false));
  return node;
}

const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);

// Halves go away from 0, also if missed by a hair, as in the texts that Python makes.
const halved = (value, digits) => (value + Math.sign(value) * 1e-6).toFixed(digits);
const fixed = (value, digits = 3) =>
  value === null || value === undefined ? "–" : halved(value, digits).replace("-", "−");
const rounded = (value, digits) => Number(halved(value, digits));
const signed = (value, digits = 3) =>
  rounded(value, digits) === 0 ? "0" : (value > 0 ? "+" : "") + fixed(value, digits);
const percent = (share) =>
  share > 0 && share < 0.005 ? "<1 %" : share < 1 && share > 0.995 ? ">99 %" : Math.round(100 * share) + " %";
const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
const signClass = (value) => (value >= 0.0005 ? "plus" : value <= -0.0005 ? "minus" : "zero");

// Text in whose words no line breaks at a hyphen: names of services and findings stay whole.
const whole = (text) => text.split(/(\S*\w-\w\S*)/).map((part, at) => (at % 2 && part.length < 42 ? el("span", { class: "word" }, part) : part));

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

// A small line at its full size in a dialog, with axes: `series` are a name and a value for each
// tick, null where nothing was read; the tick `t` is marked.
function axes(title, unit, series, t) {
  const [wide, tall, left, low] = [640, 300, 56, 36];
  const last = Math.max(1, ...series.map(([, values]) => values.length - 1));
  const known = series.flatMap(([, values]) => values.filter((value) => value !== null));
  const bottom = Math.min(0, ...known);
  const step = roundStep((Math.max(...known, bottom + 1e-6) - bottom) / 5);
  const top = Math.ceil((Math.max(...known) - 1e-9) / step) * step || step;
  const x = (at) => left + ((wide - left - 12) * at) / last;
  const y = (value) => 12 + (tall - low - 12) * (1 - (value - bottom) / (top - bottom));
  const picture = svg("svg", { class: "axes", viewBox: `0 0 ${wide} ${tall}`, role: "img", "aria-label": title });
  for (let value = Math.ceil(bottom / step) * step; value <= top + step / 2; value += step)
    picture.append(svg("path", { class: "base", d: `M${left} ${y(value)}H${wide - 12}` }), svg("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, String(Number(value.toFixed(6)))));
  for (let at = 0; at <= last; at += Math.ceil(last / 14)) picture.append(svg("text", { x: x(at), y: tall - 18, "text-anchor": "middle" }, String(at)));
  picture.append(svg("path", { class: "mark", d: `M${x(t)} 12V${tall - low}` }), svg("text", { x: (left + wide) / 2, y: tall - 2, "text-anchor": "middle" }, "tick"));
  series.forEach(([, values], number) => {
    const points = values.map((value, at) => (value === null ? null : `${x(at).toFixed(1)},${y(value).toFixed(1)}`)).filter(Boolean);
    picture.append(svg("polyline", { class: `curve s${number}`, points: points.join(" ") }));
  });
  const dialog = el("dialog", { class: "chart-dialog", "aria-label": title, onclose: () => dialog.remove() },
    el("h2", {}, unit ? `${title}, ${unit}` : title), picture,
    el("ul", { class: "legend" }, series.map(([name, values], number) => el("li", {}, svg("svg", { class: "axes", width: 26, height: 10, viewBox: "0 0 26 10" }, svg("path", { class: `curve s${number}`, d: "M0 5H26" })), `${name} ${t < values.length && values[t] !== null ? fixed(values[t], 2) : ""}`))),
    el("form", { method: "dialog" }, el("button", {}, "Close")));
  document.body.append(dialog);
  dialog.showModal();
}

// 1, 2 or 5 times a power of ten, at least `least`.
function roundStep(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return power * [1, 2, 5, 10].find((factor) => factor * power >= least - 1e-12);
}
