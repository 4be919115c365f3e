// How far work was from what its device can do: the roofline, and the list by time above the limit.

const EFFICIENCY = DATA.efficiency || { ops: [], kernels: [], modules: [], devices: [], without_model: [] };

const unknownText = "\u2013";
const orUnknown = (text) => (value) => (value === null ? unknownText : text(value));
const shareOfLimitText = (share) => digits(100 * share) + " %";
const rateText = (value) => (value >= 0.01 ? digits(value) : value > 0 ? value.toExponential(1) : "0");
// Rates of a CPU are smaller by a thousand. One unit for the whole view, so that rows can be compared.
const isSmall = Math.max(0, ...EFFICIENCY.ops.map((row) => row.tflops)) < 1, SCALE = isSmall ? 1000 : 1;
const FLOP_UNIT = isSmall ? "GFLOP/s" : "TFLOP/s", BYTE_UNIT = isSmall ? "GB/s" : "TB/s";
const scaledText = (tera) => rateText(SCALE * tera);
const beforeUnknown = (value) => (row) => (value(row) === null ? -Infinity : value(row));

const LIMIT_COLUMNS = {
  name: { title: "Name", isText: true, value: (row) => row.name },
  shapes: { title: "Shapes", isText: true, value: (row) => row.shapes },
  above: { title: "Above the limit", what: "Time that would be saved if the device did what it can", value: (row) => row.above_limit_ns, rank: beforeUnknown((row) => row.above_limit_ns), text: orUnknown(timeText), isTime: true, bar: true },
  time: { title: "Time", value: (row) => row.time_ns, text: timeText, isTime: true },
  share: { title: "Of the limit", what: "100 % is the limit. More is a mistake of the model or of the peak, or the work of a cache: the row says which", value: (row) => row.share_of_limit, rank: beforeUnknown((row) => row.share_of_limit), text: orUnknown(shareOfLimitText), cell: (row) => element("td", { class: row.explanation ? "worse" : null, title: row.explanation || null }, orUnknown(shareOfLimitText)(row.share_of_limit)) },
  bound: { title: "Bound by", isText: true, value: (row) => row.bound || unknownText, cell: (row) => element("td", {}, row.bound || unknownText) },
  tflops: { title: FLOP_UNIT, value: (row) => SCALE * row.tflops, text: rateText },
  tbytes: { title: BYTE_UNIT, value: (row) => SCALE * row.tbytes, text: rateText },
  intensity: { title: "FLOP/byte", what: "Arithmetic intensity", value: (row) => row.intensity, rank: beforeUnknown((row) => row.intensity), text: orUnknown(rateText) },
  calls: { title: "Calls", value: (row) => row.calls, text: countText },
};

const LIMIT_TABLES = [["efficiency", "ops", "Ops"], ["efficiencyKernels", "kernels", "Kernels"], ["efficiencyModules", "modules", "Modules"]].filter(([table, rows]) => table === "efficiency" || EFFICIENCY[rows].length);

for (const [table, rows, title] of LIMIT_TABLES) {
  DATA[table] = { ...EFFICIENCY, rows: EFFICIENCY[rows] };
  TABLES[table] = {
    title: title + " by time above the limit",
    sub: { ops: "Ops of equal shapes are one row.", kernels: "Kernels that are the only one of their op, and copies inside of the device.", modules: "Ops are counted for the innermost module around them or around their forward op." }[rows] + " The limit is the larger of FLOPs at the peak and bytes at the bandwidth.",
    columns: LIMIT_COLUMNS,
    order: () => ["name", ...(rows === "ops" ? ["shapes"] : []), "above", "time", "share", "bound", "tflops", "tbytes", "intensity", "calls"],
    sort: "above",
    tools: (shown, state) => (LIMIT_TABLES.length < 2 ? null : element("select", { "aria-label": "Rows", onchange: (event) => go(event.target.value, { q: state.q }) }, LIMIT_TABLES.map(([name, , label]) => element("option", { value: name, selected: name === shown }, label)))),
    detail: (_, row) => limitDetail(row),
  };
}

function limitDetail(row) {
  const op = rowNamed("ops", row.name), kernel = rowNamed("kernels", row.name);
  const facts = [
    ["Shapes", row.shapes || null],
    ["Device", row.device],
    ["Compared with", row.unit],
    ["Calls", countText(row.calls)],
    ["Time", timeText(row.time_ns)],
    ["Limit", row.limit_ns === null ? null : timeText(row.limit_ns) + " (" + row.bound + ")"],
    ["Above the limit", row.above_limit_ns === null ? null : timeText(row.above_limit_ns)],
    ["Of the limit", row.share_of_limit === null ? null : shareOfLimitText(row.share_of_limit)],
    ["FLOPs", countText(Math.round(row.flops))],
    ["Bytes", countText(Math.round(row.bytes))],
  ];
  const links = [[op, "ops"], [kernel, "kernels"]].filter(([found]) => found >= 0).map(([found, table]) => element("p", { class: "links" }, element("a", { href: address(table, { row: found }) }, table === "ops" ? "All calls of this op" : "All runs of this kernel")));
  return { title: row.name, facts, parts: [row.explanation ? element("p", { class: "lost" }, "Above 100 %: " + row.explanation + ".") : null, ...links].filter(Boolean) };
}

function efficiencyView(table, state) {
  return [efficiencyNumbers(), ...EFFICIENCY.devices.map(rooflineCard), tableView(table, state), withoutModelCard()].filter(Boolean);
}

function efficiencyNumbers() {
  const { total, mfu, hfu, modelled_share: share } = EFFICIENCY, items = [];
  if (mfu !== null) items.push(number(shareOfLimitText(mfu), "MFU"));
  if (hfu !== null && hfu > mfu * 1.001) items.push(number(shareOfLimitText(hfu), "HFU, with what is computed twice"));
  if (total.share_of_limit !== null) items.push(number(shareOfLimitText(total.share_of_limit), "of the limit"), number(timeText(total.above_limit_ns), "above the limit"));
  items.push(number(scaledText(total.tflops) + " " + FLOP_UNIT, "while it works"), number(scaledText(total.tbytes) + " " + BYTE_UNIT, "while it works"));
  items.push(number(shareOfLimitText(share), EFFICIENCY.on_device ? "of device time has a model" : "of the time of ops has a model"));
  return element("section", { class: "card numbers wide" }, items);
}

function peaksText(device) {
  if (device.problem) return device.problem[0].toUpperCase() + device.problem.slice(1) + ".";
  const rates = Object.entries(device.tflops).map(([unit, rate]) => unit.replace("_", " ") + " " + digits(SCALE * rate)).join(", ");
  const memory = device.memory_tbytes ? " Memory: " + scaledText(device.memory_tbytes) + " " + BYTE_UNIT + "." : "";
  const clock = device.ran_at_mhz && device.clock_mhz ? " It ran at " + countText(Math.round(device.ran_at_mhz)) + " of " + countText(Math.round(device.clock_mhz)) + " MHz: " + shareOfLimitText(device.ran_at_mhz / device.clock_mhz) + " of the peaks of compute could be reached." : "";
  return "Peaks in " + FLOP_UNIT + ": " + rates + "." + memory + " Source: " + device.source + "." + clock;
}

// The limits and the ops between them. Each point is a row of the table; its area is its share of the time.
function rooflineCard(device) {
  const points = EFFICIENCY.ops.filter((row) => row.device === device.device && row.intensity > 0 && row.tflops > 0);
  return card("Roofline of " + device.name, peaksText(device), points.length ? rooflineChart(device, points) : null);
}

const POWER_SIGNS = ["\u2070", "\u00b9", "\u00b2", "\u00b3", "\u2074", "\u2075", "\u2076", "\u2077", "\u2078", "\u2079"];
function powerText(power) {
  if (power >= 0 && power <= 3) return countText(10 ** power);
  return "10" + (power < 0 ? "\u207b" : "") + String(Math.abs(power)).split("").map((digit) => POWER_SIGNS[digit]).join("");
}

function rooflineChart(device, points) {
  const units = [...new Set(points.map((row) => row.unit))].filter((unit) => device.tflops[unit]).sort((a, b) => device.tflops[b] - device.tflops[a]);
  const rate = (row) => SCALE * row.tflops;
  const peaks = units.map((unit) => [unit, SCALE * device.tflops[unit]]), memory = SCALE * device.memory_tbytes;
  const ridges = memory ? peaks.map(([, peak]) => peak / memory) : [];
  const xs = [...points.map((row) => row.intensity), ...ridges], ys = [...points.map(rate), ...peaks.map(([, peak]) => peak)];
  const floor = (values) => Math.floor(Math.log10(Math.min(...values))), ceiling = (values) => Math.ceil(Math.log10(Math.max(...values)) + 0.05);
  const x0 = floor(xs), x1 = Math.max(x0 + 1, ceiling(xs)), y0 = floor(ys), y1 = Math.max(y0 + 1, ceiling(ys));
  const most = Math.max(...points.map((row) => row.time_ns)), left = 64, right = 26, top = 28, bottom = 40;
  const radius = (row) => 3 + 9 * Math.sqrt(row.time_ns / most);
  let hover = null, places = [];
  const made = canvas(350, "Achieved " + FLOP_UNIT + " by arithmetic intensity, with the limits of the device", (context, width, height) => {
    const x = (value) => left + ((Math.log10(value) - x0) / (x1 - x0)) * (width - left - right);
    const y = (value) => height - bottom - ((Math.log10(value) - y0) / (y1 - y0)) * (height - bottom - top);
    context.textBaseline = "middle";
    context.fillStyle = color("faint");
    const everyX = Math.ceil((x1 - x0) / Math.max(1, (width - left) / 60)), everyY = Math.ceil((y1 - y0) / 9);
    context.textAlign = "center";
    for (let power = x0; power <= x1; power += everyX) {
      context.fillText(powerText(power), x(10 ** power), height - bottom + 13);
      context.fillRect(Math.round(x(10 ** power)), top, 0.5, height - bottom - top);
    }
    context.fillText("FLOP per byte", left + (width - left - right) / 2, height - 8);
    context.textAlign = "right";
    for (let power = y0; power <= y1; power += everyY) {
      context.fillText(powerText(power), left - 8, y(10 ** power));
      context.fillRect(left, Math.round(y(10 ** power)), width - left - right, 0.5);
    }
    context.textAlign = "left";
    context.fillText(FLOP_UNIT, 4, 8);
    context.save();
    context.beginPath();
    context.rect(left, top, width - left - right, height - top - bottom);
    context.clip();
    context.strokeStyle = color("ink");
    context.lineWidth = 1.5;
    if (memory) {
      const end = peaks.length ? peaks[0][1] / memory : 10 ** x1;
      context.beginPath();
      context.moveTo(x(10 ** x0), y(10 ** x0 * memory));
      context.lineTo(x(end), y(end * memory));
      context.stroke();
    }
    context.fillStyle = color("soft");
    context.textAlign = "right";
    for (const [unit, peak] of peaks) {
      context.beginPath();
      context.moveTo(x(memory ? Math.max(peak / memory, 10 ** x0) : 10 ** x0), y(peak));
      context.lineTo(x(10 ** x1), y(peak));
      context.stroke();
      context.fillText(unit.replace("_", " ") + " " + digits(peak), width - right - 4, y(peak) + 10);
    }
    context.lineWidth = 1;
    places = points.map((row) => [x(row.intensity), y(rate(row)), row]);
    for (const [px, py, row] of [...places].sort((a, b) => b[2].time_ns - a[2].time_ns)) {
      context.globalAlpha = hover === null || hover === row ? 0.75 : 0.25;
      context.fillStyle = color(row.explanation ? "warn" : row.bound === "memory" ? "p2" : row.bound === "compute" ? "p0" : "p7");
      context.beginPath();
      context.arc(px, py, radius(row), 0, 2 * Math.PI);
      context.fill();
    }
    context.restore();
  });
  const nearest = (event) => {
    const box = made.getBoundingClientRect(), mx = event.clientX - box.left, my = event.clientY - box.top;
    let found = null, least = Infinity;
    for (const [px, py, row] of places) {
      const distance = Math.hypot(px - mx, py - my);
      if (distance < radius(row) + 4 && distance < least) (least = distance), (found = row);
    }
    return found;
  };
  made.addEventListener("mousemove", (event) => {
    const row = nearest(event);
    if (row !== hover) {
      hover = row;
      made.redraw();
    }
    if (!row) return hideTip();
    showTip(event, row.name + " " + row.shapes + "\n" + timeText(row.time_ns) + " in " + countText(row.calls) + (row.calls === 1 ? " call" : " calls") + "\n" + scaledText(row.tflops) + " " + FLOP_UNIT + ", " + scaledText(row.tbytes) + " " + BYTE_UNIT + (row.share_of_limit === null ? "" : "\n" + shareOfLimitText(row.share_of_limit) + " of the limit, bound by " + row.bound));
  });
  made.addEventListener("mouseleave", () => {
    hover = null;
    hideTip();
    made.redraw();
  });
  made.addEventListener("click", (event) => {
    const row = nearest(event);
    if (row) go("efficiency", { row: EFFICIENCY.ops.indexOf(row) });
  });
  const kinds = [["compute", "p0", "bound by compute"], ["memory", "p2", "bound by memory"]].filter(([bound]) => points.some((row) => row.bound === bound && !row.explanation)).map(([, name, text]) => [name, text]);
  if (points.some((row) => row.explanation)) kinds.push(["warn", "above the limit of the model"]);
  if (points.some((row) => row.bound === null)) kinds.push(["p7", "limit not known"]);
  return [made, element("div", { class: "legend" }, kinds.map(([name, text]) => element("span", {}, element("i", { style: "background:var(--" + name + ")" }), text)))];
}

function withoutModelCard() {
  const rows = EFFICIENCY.without_model.slice(0, 12);
  if (rows.length === 0) return null;
  return card(
    "Without a model",
    shareOfLimitText(1 - EFFICIENCY.modelled_share) + (EFFICIENCY.on_device ? " of device time" : " of the time of ops") + " is work of which the FLOPs and bytes are not known. It is not part of the numbers above, apart from MFU, which is of whole steps.",
    rows.map((row) => element("div", { class: "linkrow" }, element("span", { class: "mono", title: row.name }, shortName(row.name)), element("span", {}, timeText(row.time_ns) + ", " + shareText(row.time_ns, EFFICIENCY.work_ns)), element("span", { class: "meter" }, element("span", { style: "width:" + (100 * row.time_ns) / Math.max(1, rows[0].time_ns) + "%" })))),
  );
}
