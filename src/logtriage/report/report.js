"use strict";
(() => {
  const PAGE = 100;
  const data = JSON.parse(document.getElementById("data").textContent);
  const list = document.getElementById("list");
  const form = document.getElementById("filters");
  const count = document.getElementById("count");
  const more = document.getElementById("more");
  const light = document.getElementById("light");
  const full = new Map();
  for (const element of list.children) full.set(Number(element.dataset.row), element);

  const [POLICY, TASK, INCIDENT, GRADE, GATE, OUTCOME, TICKS, ACTIONS] = [0, 1, 2, 3, 4, 5, 6, 7];
  const grade = (row) => (row[GRADE] === null ? -1 : row[GRADE]);
  const orders = {
    low: (a, b) => grade(data.rows[a]) - grade(data.rows[b]) || a - b,
    high: (a, b) => grade(data.rows[b]) - grade(data.rows[a]) || a - b,
    ticks: (a, b) => data.rows[b][TICKS] - data.rows[a][TICKS] || a - b,
    incident: (a, b) =>
      data.rows[a][TASK] - data.rows[b][TASK] ||
      data.rows[a][INCIDENT].localeCompare(data.rows[b][INCIDENT], "en", { numeric: true }) ||
      a - b,
    run: (a, b) => a - b,
  };

  function text(parent, tag, content, name) {
    const element = document.createElement(tag);
    element.textContent = content;
    if (name) element.className = name;
    parent.append(element);
    return element;
  }

  // Rows that the page does not hold in full are made when they are shown.
  function make(index) {
    const row = data.rows[index];
    const element = light.content.firstElementChild.cloneNode(true);
    const [score, who, what, outcome, ticks] = element.firstElementChild.children;
    score.textContent = row[GRADE] === null ? "–" : row[GRADE].toFixed(3);
    who.textContent = data.policies[row[POLICY]];
    what.textContent = data.tasks[row[TASK]] + "/" + row[INCIDENT];
    outcome.textContent = data.outcomes[row[OUTCOME]] + " ";
    if (row[GATE] >= 0) {
      score.classList.add("bad");
      text(outcome, "b", data.gates[row[GATE]], "gate");
    }
    ticks.textContent = row[GRADE] === null ? "–" : row[TICKS];
    if (row[GRADE] !== null) text(ticks, "small", row[TICKS] === 1 ? " tick" : " ticks");
    element.addEventListener("toggle", () => {
      const steps = element.querySelector("ol");
      if (steps.childElementCount) return;
      row[ACTIONS].forEach((action, tick) => {
        const step = text(document.createElement("li"), "div", "", "step");
        text(step, "span", "tick " + (tick + 1), "tick");
        text(text(step, "span", "", "act"), "code", data.actions[action]);
        steps.append(step.parentElement);
      });
    });
    full.set(index, element);
    return element;
  }

  // A link to the same episode on the replay page, where there is one.
  function linked(index) {
    const element = full.get(index) || make(index);
    if (!data.replay || element.querySelector(".replay")) return element;
    const row = data.rows[index];
    const incident = data.replay.stems[row[TASK]] + row[INCIDENT];
    const parts = [data.replay.policies[row[POLICY]], ...incident.split("/")];
    const link = text(element.querySelector(".body"), "a", "Replay it tick by tick", "replay");
    link.href = data.replay.page + "#/e/" + parts.map(encodeURIComponent).join("/");
    link.parentElement.prepend(link);
    return element;
  }

  let found = [];
  let shown = 0;

  function extend() {
    const next = found.slice(shown, shown + PAGE).map(linked);
    list.append(...next);
    shown += next.length;
    more.hidden = shown >= found.length;
    more.textContent = "Show " + Math.min(PAGE, found.length - shown) + " more";
    count.textContent = found.length
      ? shown + " of " + found.length + " matching episodes shown"
      : "No episode matches";
  }

  function apply() {
    const want = Object.fromEntries(new FormData(form));
    const low = want.low === "" ? 0 : Number(want.low);
    const high = want.high === "" ? 1 : Number(want.high);
    const whole = low <= 0 && high >= 1;
    found = [];
    data.rows.forEach((row, index) => {
      if (want.policy !== "" && row[POLICY] !== Number(want.policy)) return;
      if (want.task !== "" && row[TASK] !== Number(want.task)) return;
      if (want.gate === "none" && row[GATE] >= 0) return;
      if (want.gate === "any" && row[GATE] < 0) return;
      if (/^\d/.test(want.gate) && row[GATE] !== Number(want.gate)) return;
      if (!whole && (row[GRADE] === null || row[GRADE] < low || row[GRADE] > high)) return;
      if (want.full && row.length > ACTIONS) return;
      found.push(index);
    });
    found.sort(orders[want.sort] || orders.run);
    list.replaceChildren();
    shown = 0;
    extend();
  }

  form.addEventListener("input", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(apply));
  more.addEventListener("click", extend);
  form.hidden = false;
  apply();
})();
