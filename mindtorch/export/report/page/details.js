// The tables of ops, kernels, modules and lines, and the details of one row.

const ROW = { name: 0, kind: 1, phase: 2, calls: 3, total: 4, self: 5, shortest: 6, longest: 7, device: 8, selfDevice: 9, memory: 10, place: 11 };

const COLUMNS = {
  name: { title: "Name", isText: true, value: (row) => DATA.names[row[ROW.name]], mark: phaseMark },
  place: { title: "Place", isText: true, value: (row) => DATA.names[row[ROW.place]] },
  self: { title: "Self time", what: "Time in the row itself, without what it calls", value: (row) => row[ROW.self], text: timeText, isTime: true, bar: true },
  total: { title: "Total time", what: "Time with everything it calls", value: (row) => row[ROW.total], text: timeText, isTime: true },
  average: { title: "Average", what: "Total time per call", value: (row) => Math.round(row[ROW.total] / row[ROW.calls]), text: timeText, isTime: true },
  longest: { title: "Longest", value: (row) => row[ROW.longest], text: timeText, isTime: true },
  selfDevice: { title: "Device self", what: "Device work that the row itself launched", value: (row) => row[ROW.selfDevice], text: timeText, isTime: true, bar: true },
  device: { title: "Device total", value: (row) => row[ROW.device], text: timeText, isTime: true },
  calls: { title: "Calls", value: (row) => row[ROW.calls], text: countText },
  memory: { title: "Memory", what: "Bytes allocated less bytes freed by the row itself", value: (row) => row[ROW.memory], text: bytesText },
};

function phaseMark(row, table) {
  if (!table.startsWith("ops")) return null;
  return element("i", { style: "background:" + phaseColor(row[ROW.phase]), title: DATA.phases.host[row[ROW.phase]] });
}

const anyOf = (rows, column) => rows.some((row) => row[column] !== 0);

function hostOrder(table, first) {
  const rows = DATA[table].rows, chosen = [...first, "self", "total", "average", "longest"];
  if (table === "lines") chosen.splice(2, 2);
  if (anyOf(rows, ROW.selfDevice) || anyOf(rows, ROW.device)) chosen.push("selfDevice", "device");
  chosen.push("calls");
  if (anyOf(rows, ROW.memory)) chosen.push("memory");
  return chosen;
}

// Ops can be told apart by more than their name: [table, what a user chooses, title of the second column].
const GROUPINGS = [["ops", "By name", ""], ["opsByShape", "By name and shapes", "Shapes"], ["opsByModule", "By name and module", "Module"], ["opsByLine", "By name and line", "Line"]].filter(([table]) => table === "ops" || DATA[table].rows.length);

const groupingChoice = (table, state) =>
  GROUPINGS.length < 2 ? null : element("select", { "aria-label": "Group", onchange: (event) => go(event.target.value, { q: state.q }) }, GROUPINGS.map(([name, label]) => element("option", { value: name, selected: name === table }, label)));

for (const [table, label, title] of GROUPINGS) {
  TABLES[table] = {
    title: "Ops and scopes" + (table === "ops" ? "" : ", " + label.toLowerCase()),
    sub: table === "ops" ? "Everything the host did. Click a row for its callers, callees and kernels." : "Calls that have no " + title.toLowerCase() + " are left out.",
    columns: { ...COLUMNS, place: { ...COLUMNS.place, title } },
    order: () => hostOrder(table, table === "ops" ? ["name"] : ["name", "place"]),
    sort: "self",
    tools: groupingChoice,
  };
}
TABLES.kernels = { title: "Device work", sub: "Kernels, copies and fills, by name.", columns: COLUMNS, order: () => ["name", "selfDevice", "average", "longest", "calls"], sort: "selfDevice" };
TABLES.modules = { title: "Modules", sub: "Calls of modules. Self time is the time without the modules that a module calls.", columns: COLUMNS, order: () => hostOrder("modules", ["name"]), sort: "self" };
TABLES.lines = { title: "Source lines", sub: "The innermost lines of your own code under which ops ran.", columns: COLUMNS, order: () => hostOrder("lines", ["name"]), sort: "self" };


function showDetail(table, state) {
  const row = DATA[table].rows[state.row];
  detail.hidden = !row;
  if (!row) return;
  const { title, facts, parts } = (TABLES[table].detail || workDetail)(table, row, state);
  const close = () => go(table, { ...state, row: null });
  detail.replaceChildren(
    element("header", {}, element("h2", {}, title), element("button", { class: "quiet", onclick: close, title: "Close (Esc)" }, "Close")),
    element("dl", {}, facts.filter(([, value]) => value !== null).map(([name, value]) => [element("dt", {}, name), element("dd", {}, value)])),
    ...parts,
  );
  redrawAll();
}

function workDetail(table, row, state) {
  const facts = [
    [TABLES[table].columns.place.title, row[ROW.place] === undefined ? null : DATA.names[row[ROW.place]]],
    ["Kind", DATA.names[row[ROW.kind]] + (table.startsWith("ops") ? ", " + DATA.phases.host[row[ROW.phase]] : "")],
    ["Calls", countText(row[ROW.calls])],
    ["Calls per step", DATA.hasSteps ? digits(row[ROW.calls] / DATA.steps.count) : null],
    ["Self time", table === "kernels" ? null : timeText(row[ROW.self])],
    ["Total time", timeText(row[ROW.total])],
    ["Shortest, average, longest", [row[ROW.shortest], row[ROW.total] / row[ROW.calls], row[ROW.longest]].map(timeText).join(", ")],
    ["Device, self and total", row[ROW.device] && table !== "kernels" ? timeText(row[ROW.selfDevice]) + ", " + timeText(row[ROW.device]) : null],
    ["Memory kept", row[ROW.memory] ? bytesText(row[ROW.memory]) : null],
  ];
  const more = DATA[table].details[state.row] || { callers: [], callees: [], kernels: [], times: [] };
  const parts = [
    ...(more.times.length ? [element("h3", {}, "Over the recording"), sparkline(more.times)] : []),
    ...linkList(table === "kernels" ? "Launched by" : "Called by", more.callers, "ops"),
    ...linkList("Calls", more.callees, "ops"),
    ...linkList("Launches", more.kernels, "kernels"),
    ...elsewhere(table, row),
  ];
  return { title: DATA.names[row[ROW.name]], facts, parts };
}

// Links to the other views of the same work.
function elsewhere(table, row) {
  const name = DATA.names[row[ROW.name]], links = [];
  const link = (view, state, text) => links.push(element("a", { href: address(view, state) }, text));
  if (table !== "ops" && table.startsWith("ops")) link("ops", { row: rowNamed("ops", name) }, "All calls");
  if (table === "ops") for (const [grouped, label] of GROUPINGS.slice(1)) link(grouped, { q: name }, label);
  if (table === "modules" && TABLES.opsByModule) link("opsByModule", { q: name }, "Ops in this module");
  if (table === "lines" && TABLES.opsByLine) link("opsByLine", { q: name }, "Ops at this line");
  if (DATA.compared && comparedRow(name) >= 0) link("compared", { all: 1, row: comparedRow(name) }, "Compared with the baseline");
  link("flame", { q: name }, "In the flame graph");
  link("timeline", { q: name }, "In the timeline");
  return [element("h3", {}, "See also"), element("p", { class: "links" }, links.map((each, k) => [k ? " \u00b7 " : "", each]))];
}

function workLink(table, row) {
  const name = DATA.names[DATA[table].rows[row][ROW.name]];
  return element("a", { class: "mono", href: address(table, { row }), title: name }, shortName(name));
}

const rowNamed = (table, name) => DATA[table].rows.findIndex((row) => DATA.names[row[ROW.name]] === name);

function linkList(title, links, table) {
  if (links.length === 0) return [];
  const most = Math.max(1, ...links.map((link) => link[2]));
  const rows = links.map(([row, calls, time]) =>
    element(
      "div",
      { class: "linkrow" },
      workLink(table, row),
      element("span", {}, timeText(time) + ", " + countText(calls) + (calls === 1 ? " call" : " calls")),
      element("span", { class: "meter" }, element("span", { style: "width:" + (100 * time) / most + "%" })),
    ),
  );
  return [element("h3", {}, title), ...rows];
}
