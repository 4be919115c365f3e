// The view "Compared": what changed since another run, told apart from noise.

const SHIFT = { before: 0, after: 1, change: 2, low: 3, high: 4 };
const PAIR = { name: 0, change: 1, otherName: 2, timeline: 3, shapes: 4, module: 5, time: 6, calls: 7, memory: 8 };

const PART = { name: 0, change: 1, cause: 2, before: 3, after: 4, time: 5, notes: 6, line: 7, isWork: 8 };

const isKnown = (shift) => shift[SHIFT.low] !== null;
const signed = (value, text) => (value > 0 ? "+" : value < 0 ? "\u2212" : "") + text(Math.abs(value));
const percentText = (shift, value) => (shift[SHIFT.before] === 0 ? "" : signed(value / shift[SHIFT.before], (part) => digits(100 * part) + " %"));
const callsText = (calls) => (calls >= 100 ? countText(Math.round(calls)) : String(Math.round(calls * 100) / 100));
const changeName = (row) => DATA.compared.changes[row[PAIR.change]];
const comparedRow = (name) => DATA.compared.rows.findIndex((row) => DATA.names[row[PAIR.name]] === name);

function intervalText(shift) {
  if (!isKnown(shift)) return "too few steps to tell";
  if (shift[SHIFT.low] === 0 && shift[SHIFT.high] === 0) return "";
  return shift[SHIFT.before] === 0 ? "" : percentText(shift, shift[SHIFT.low]) + " to " + percentText(shift, shift[SHIFT.high]);
}

// Worse is red, better is green, and what noise explains has no colour.
function tone(shift) {
  if (!isKnown(shift)) return "";
  return shift[SHIFT.low] > 0 ? "worse" : shift[SHIFT.high] < 0 ? "better" : "";
}

// A line from the lower to the upper bound of the change, with a mark at the estimate and a tick at zero.
function intervalMark(shift, most) {
  if (!isKnown(shift)) return element("span", { class: "interval" });
  const place = (value) => 50 + 48 * Math.max(-1, Math.min(1, value / most)) + "%";
  const [low, high] = [shift[SHIFT.low], shift[SHIFT.high]].map(place);
  return element(
    "span",
    { class: "interval " + tone(shift), title: intervalText(shift) },
    element("i", { class: "zero" }),
    element("i", { class: "range", style: "left:" + low + ";width:calc(" + high + " - " + low + ")" }),
    element("i", { class: "estimate", style: "left:" + place(shift[SHIFT.change]) }),
  );
}

function comparedColumns() {
  const shift = (column, part) => (row) => row[column][part];
  const time = (title, part) => ({ title, value: shift(PAIR.time, part), text: timeText, isTime: true });
  // The widest change that is told for certain sets the scale, so that one noisy row does not hide the others.
  const certain = DATA.compared.rows.filter((row) => tone(row[PAIR.time])).map((row) => Math.max(Math.abs(row[PAIR.time][SHIFT.low]), Math.abs(row[PAIR.time][SHIFT.high])));
  const most = Math.max(1, ...(certain.length ? certain : DATA.compared.rows.map((row) => Math.abs(row[PAIR.time][SHIFT.change]))));
  return {
    name: { title: "Name", isText: true, value: (row) => DATA.names[row[PAIR.name]] + (row[PAIR.otherName] && changeName(row) === "renamed" ? " (was " + DATA.names[row[PAIR.otherName]] + ")" : "") },
    shapes: { title: "Shapes", isText: true, value: (row) => DATA.names[row[PAIR.shapes]] },
    module: { title: "Module", isText: true, value: (row) => DATA.names[row[PAIR.module]] },
    change: {
      title: "Change",
      value: changeName,
      rank: (row) => (row[PAIR.change] ? 1e18 : 0) + Math.abs(row[PAIR.time][SHIFT.change]),
      cell: (row) => element("td", {}, element("span", { class: "badge " + changeName(row) }, changeName(row))),
    },
    before: time("Before", SHIFT.before),
    after: time("After", SHIFT.after),
    difference: {
      title: "Difference",
      what: "Estimate of the difference per step, with the interval that holds it",
      value: shift(PAIR.time, SHIFT.change),
      isTime: true,
      cell: (row) => element("td", { class: tone(row[PAIR.time]) }, signed(row[PAIR.time][SHIFT.change], timeText), intervalMark(row[PAIR.time], most)),
    },
    share: { title: "Share", value: (row) => (row[PAIR.time][SHIFT.before] ? row[PAIR.time][SHIFT.change] / row[PAIR.time][SHIFT.before] : 0), cell: (row) => element("td", { class: tone(row[PAIR.time]) }, percentText(row[PAIR.time], row[PAIR.time][SHIFT.change]), element("span", { class: "bounds" }, intervalText(row[PAIR.time]))) },
    low: time("Difference, lower bound", SHIFT.low),
    high: time("Difference, upper bound", SHIFT.high),
    calls: {
      title: "Calls",
      what: "Calls per step",
      value: shift(PAIR.calls, SHIFT.after),
      cell: (row) => element("td", {}, row[PAIR.calls][SHIFT.before] === row[PAIR.calls][SHIFT.after] ? callsText(row[PAIR.calls][SHIFT.after]) : callsText(row[PAIR.calls][SHIFT.before]) + " \u2192 " + callsText(row[PAIR.calls][SHIFT.after])),
    },
    callsBefore: { title: "Calls before", value: shift(PAIR.calls, SHIFT.before) },
    memory: { title: "Memory", what: "Difference of the bytes that the work keeps per step", value: shift(PAIR.memory, SHIFT.change), cell: (row) => element("td", { class: tone(row[PAIR.memory]) }, row[PAIR.memory][SHIFT.change] ? signed(row[PAIR.memory][SHIFT.change], (bytes) => bytesText(Math.round(bytes))) : "") },
  };
}

const partChange = (row) => row[PART.after] - row[PART.before];
const isWork = (row) => row[PART.isWork] === 1;
const partTitle = (row) => (isWork(row) ? DATA.names[row[PART.name]] + " (" + DATA.names[row[PART.cause]] + ")" : DATA.names[row[PART.cause]] + ": " + DATA.names[row[PART.name]]);

// The step as the sum of its parts: the differences add up to the change of the mean step.
function partColumns() {
  const most = Math.max(1, ...DATA.compared.parts.map((row) => Math.abs(partChange(row))));
  const time = (title, at) => ({ title, what: "Mean per step", value: (row) => row[at], text: timeText, isTime: true });
  const meter = (row) => element("span", { class: "meter " + tone(row[PART.time]) }, element("span", { style: "width:" + (100 * Math.abs(partChange(row))) / most + "%" }));
  return {
    name: { title: "Part of the step", isText: true, value: partTitle },
    difference: { title: "Difference", what: "Of the means per step; the differences of all parts add up to that of the step", value: partChange, rank: (row) => Math.abs(partChange(row)), isTime: true, cell: (row) => element("td", { class: tone(row[PART.time]) }, signed(partChange(row), timeText), meter(row)) },
    before: time("Before", PART.before),
    after: time("After", PART.after),
    change: { title: "Change", value: (row) => DATA.compared.changes[row[PART.change]], cell: (row) => element("td", {}, element("span", { class: "badge " + DATA.compared.changes[row[PART.change]] }, DATA.compared.changes[row[PART.change]])) },
    notes: { title: "Also changed", isText: true, value: (row) => row[PART.notes].join("; ") },
  };
}

function partDetail(table, row) {
  const facts = [["Cause", DATA.names[row[PART.cause]]], ["Line", DATA.names[row[PART.line]] || null], ["Mean per step", timeText(row[PART.before]) + " \u2192 " + timeText(row[PART.after])], ["Median per step", timeText(row[PART.time][SHIFT.before]) + " \u2192 " + timeText(row[PART.time][SHIFT.after])], ["Interval of the change", isKnown(row[PART.time]) ? signed(row[PART.time][SHIFT.low], timeText) + " to " + signed(row[PART.time][SHIFT.high], timeText) : "too few steps to tell"], ...row[PART.notes].map((note) => ["Also changed", note])];
  const other = comparedRow(DATA.names[row[PART.name]]);
  return { title: partTitle(row), facts, parts: isWork(row) && other >= 0 ? [element("p", { class: "links" }, element("a", { href: address("compared", { all: 1, row: other }) }, "Its calls in both runs"))] : [] };
}

if (DATA.compared && DATA.compared.parts.length) {
  DATA.comparedParts = { rows: DATA.compared.parts, leftOut: DATA.compared.partsLeftOut };
  TABLES.comparedParts = {
    title: "What the change is made of",
    sub: "The thread of the loop, moment by moment. The differences of all parts add up to the change of a usual step, " + signed(DATA.compared.meanAfter - DATA.compared.meanBefore - DATA.compared.unusual, timeText) + "; parts that changed beyond noise are " + signed(DATA.compared.explained, timeText) + " of it. The slowest and the fastest tenth of the steps change the mean by another " + signed(DATA.compared.unusual, timeText) + ".",
    columns: partColumns(),
    order: () => ["name", "difference", "before", "after", "change", ...(DATA.compared.parts.some((row) => row[PART.notes].length) ? ["notes"] : [])],
    sort: "difference",
    keeps: (row, state) => state.all || row[PART.change] !== 0,
    tools: (table, state) => element("button", { "aria-pressed": state.all ? "true" : "false", onclick: () => go("comparedParts", { ...state, all: state.all ? null : 1 }) }, state.all ? "Only what changed" : "Show unchanged parts too"),
    detail: partDetail,
  };
}

if (DATA.compared) {
  const rows = DATA.compared.rows, has = (column) => rows.some((row) => DATA.names[row[column]] !== "");
  TABLES.compared = {
    title: "Work by name",
    sub: "Self time per step of ops, scopes and device work, on all threads and devices. Intervals hold for all rows together with " + String(Math.round(1e4 * DATA.compared.confidence) / 100) + " % confidence.",
    columns: comparedColumns(),
    order: () => ["name", ...(has(PAIR.shapes) ? ["shapes"] : []), ...(has(PAIR.module) ? ["module"] : []), "change", "before", "after", "difference", "share", "calls", ...(rows.some((row) => row[PAIR.memory][SHIFT.before] || row[PAIR.memory][SHIFT.after]) ? ["memory"] : [])],
    hidden: ["low", "high", "callsBefore"],
    sort: "change",
    keeps: (row, state) => state.all || row[PAIR.change] !== 0,
    tools: (table, state) => element("button", { "aria-pressed": state.all ? "true" : "false", onclick: () => go("compared", { ...state, all: state.all ? null : 1 }) }, state.all ? "Only what changed" : "Show unchanged rows too"),
    detail: comparedDetail,
  };
}

function comparedDetail(table, row) {
  const fact = (title, shift, text) => [title, text(shift[SHIFT.before]) + " \u2192 " + text(shift[SHIFT.after]) + (intervalText(shift) ? " (" + intervalText(shift) + ")" : "")];
  const name = DATA.names[row[PAIR.name]], links = [];
  for (const other of ["ops", "kernels"]) if (rowNamed(other, name) >= 0) links.push(element("a", { href: address(other, { row: rowNamed(other, name) }) }, "Its calls in this run"));
  const facts = [
    ["Change", changeName(row)],
    ["Timeline", DATA.names[row[PAIR.timeline]]],
    fact("Time per step", row[PAIR.time], timeText),
    fact("Calls per step", row[PAIR.calls], callsText),
    row[PAIR.memory][SHIFT.before] || row[PAIR.memory][SHIFT.after] ? fact("Memory per step", row[PAIR.memory], (bytes) => bytesText(Math.round(bytes))) : ["", null],
  ];
  return { title: name, facts, parts: links.length ? [element("p", { class: "links" }, links)] : [] };
}

function comparedSummary(isLink) {
  const compared = DATA.compared, step = compared.stepTime, counts = {};
  for (const row of compared.rows) counts[changeName(row)] = (counts[changeName(row)] || 0) + 1;
  const value = percentText(step, step[SHIFT.change]) || "0 %";
  const items = [
    element("div", { class: tone(step) }, number(value, "step time, " + (tone(step) === "worse" ? "slower" : tone(step) === "better" ? "faster" : "no change beyond noise"))),
    number(timeText(step[SHIFT.before]), "step before"),
    number(timeText(step[SHIFT.after]), "step after"),
  ];
  if (compared.deviceTime[SHIFT.before] || compared.deviceTime[SHIFT.after]) items.push(element("div", { class: tone(compared.deviceTime) }, number(percentText(compared.deviceTime, compared.deviceTime[SHIFT.change]) || "new", "device time")));
  const told = Object.entries(counts).filter(([name]) => name !== "same").map(([name, count]) => count + " " + name).join(", ") || "no row changed";
  const title = "Compared with " + compared.baseline;
  return element(
    "section",
    { class: "card" },
    element("h2", {}, title),
    element("p", { class: "sub" }, "Interval of the step time: " + (intervalText(step) || "unknown") + ", from " + compared.stepsBefore + " and " + compared.stepsAfter + " steps. Rows: " + told + ". ", isLink ? element("a", { href: "#compared" }, "What changed") : null),
    element("div", { class: "numbers" }, items),
  );
}

// Both runs from left to right, each step one dot; the dashed lines are the medians.
function bothRunsChart() {
  const { before, after, stepTime } = DATA.compared, left = 58, bottom = 22, top = 8;
  const usual = 3 * Math.max(stepTime[SHIFT.before], stepTime[SHIFT.after]), longest = Math.max(...before, ...after), limit = Math.min(usual, longest * 1.02);
  // Dots do not need to stand on zero: small changes are seen better without it.
  const shortest = Math.min(...before, ...after), least = shortest > limit / 2 ? Math.max(0, shortest - (limit - shortest) / 2) : 0;
  const series = [["faint", before, stepTime[SHIFT.before]], ["accent", after, stepTime[SHIFT.after]]];
  const made = canvas(190, "Duration of the steps of both runs", (context, width, height) => {
    const room = width - left, y = (time) => height - bottom - ((height - bottom - top) * (Math.min(time, limit) - least)) / Math.max(1, limit - least);
    context.textBaseline = "middle";
    for (let k = 0; k <= 2; ++k) {
      context.fillStyle = color("faint");
      context.textAlign = "right";
      const value = least + ((limit - least) * k) / 2;
      context.fillText(timeText(value), left - 8, y(value));
      context.fillStyle = color("line");
      context.fillRect(left, Math.round(y(value)), room, 1);
    }
    for (const [name, times, median] of series) {
      context.fillStyle = context.strokeStyle = color(name);
      const size = times.length > 300 ? 2 : 4;
      times.forEach((time, k) => context.fillRect(left + ((k + 0.5) / times.length) * room - size / 2, y(time) - size / 2, size, size));
      context.setLineDash([3, 4]);
      context.beginPath();
      context.moveTo(left, y(median));
      context.lineTo(width, y(median));
      context.stroke();
      context.setLineDash([]);
    }
    context.fillStyle = color("faint");
    context.textAlign = "left";
    context.fillText("first step", left, height - 9);
    context.textAlign = "right";
    context.fillText("last step", width, height - 9);
  });
  const dots = element("div", { class: "legend" }, [["faint", "before: " + DATA.compared.baseline], ["accent", "after: " + DATA.about.title]].map(([name, text]) => element("span", {}, element("i", { style: "background:var(--" + name + ")" }), text)));
  const copy = copyButton("Copy as CSV", () => csvText(["Step", "Before (ns)", "After (ns)"], Array.from({ length: Math.max(before.length, after.length) }, (_, k) => [k, before[k], after[k]])));
  return card("Steps of both runs", "Each dot is a step; the dashed lines are the medians.", made, dots, element("div", { class: "tools after" }, copy));
}

function comparedView(table, state) {
  const parts = TABLES.comparedParts ? tableView("comparedParts", table === "comparedParts" ? state : {}) : null;
  return [comparedSummary(false), parts, tableView("compared", table === "compared" ? state : {}), bothRunsChart()].filter(Boolean);
}
