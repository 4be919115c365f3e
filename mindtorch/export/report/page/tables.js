// Tables of ops, kernels, modules and lines: sorted, filtered, copied as CSV; and the details of a row.

const ROW = { name: 0, kind: 1, phase: 2, calls: 3, total: 4, self: 5, shortest: 6, longest: 7, device: 8, selfDevice: 9, memory: 10 };
const FIRST_ROWS = 200;

const COLUMNS = {
  name: { title: "Name", value: (row) => DATA.names[row[ROW.name]] },
  self: { title: "Self time", what: "Time in the row itself, without what it calls", value: (row) => row[ROW.self], text: timeText, bar: true },
  total: { title: "Total time", what: "Time with everything it calls", value: (row) => row[ROW.total], text: timeText },
  average: { title: "Average", what: "Total time per call", value: (row) => row[ROW.total] / row[ROW.calls], text: timeText },
  longest: { title: "Longest", value: (row) => row[ROW.longest], text: timeText },
  selfDevice: { title: "Device self", what: "Device work that the row itself launched", value: (row) => row[ROW.selfDevice], text: timeText, bar: true },
  device: { title: "Device total", value: (row) => row[ROW.device], text: timeText },
  calls: { title: "Calls", value: (row) => row[ROW.calls], text: countText },
  memory: { title: "Memory", what: "Bytes allocated less bytes freed by the row itself", value: (row) => row[ROW.memory], text: bytesText },
};

const anyOf = (rows, column) => rows.some((row) => row[column] !== 0);

const TABLES = {
  ops: { title: "Ops and scopes", sub: "Everything the host did, by name. Click a row for its callers, callees and kernels." },
  kernels: { title: "Device work", sub: "Kernels, copies and fills, by name." },
  modules: { title: "Modules", sub: "Calls of modules. Self time is the time without the modules that a module calls." },
  lines: { title: "Source lines", sub: "The innermost lines of your own code under which ops ran." },
};

function columnsOf(table) {
  const rows = DATA[table].rows;
  if (table === "kernels") return ["name", "selfDevice", "average", "longest", "calls"];
  const chosen = ["name", "self", "total", "average", "longest"];
  if (table === "lines") chosen.splice(2, 2);
  if (anyOf(rows, ROW.selfDevice) || anyOf(rows, ROW.device)) chosen.push("selfDevice", "device");
  chosen.push("calls");
  if (anyOf(rows, ROW.memory)) chosen.push("memory");
  return chosen;
}

function matcher(query) {
  const regex = /^\/(.*)\/$/.exec(query);
  if (regex) {
    try {
      const pattern = new RegExp(regex[1], "i");
      return (text) => pattern.test(text);
    } catch {
      return () => false;
    }
  }
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return (text) => words.every((word) => text.toLowerCase().includes(word));
}

function shownRows(table, state) {
  const rows = DATA[table].rows, matches = matcher(state.q || "");
  const column = COLUMNS[state.sort], direction = state.dir === "up" ? 1 : -1;
  const chosen = [...rows.keys()].filter((k) => matches(DATA.names[rows[k][ROW.name]]));
  chosen.sort((a, b) => {
    const x = column.value(rows[a]), y = column.value(rows[b]);
    return (x < y ? -1 : x > y ? 1 : 0) * direction || a - b;
  });
  return chosen;
}

function csvOf(table, columns, shown) {
  const quote = (text) => '"' + String(text).replace(/"/g, '""') + '"';
  // A spreadsheet would run a name that looks like a formula.
  const safe = (text) => (/^[=+\-@\t\r]/.test(text) ? "'" + text : text);
  const lines = [columns.map((name) => quote(COLUMNS[name].title + (COLUMNS[name].text === timeText ? " (ns)" : ""))).join(",")];
  for (const k of shown) {
    const row = DATA[table].rows[k];
    lines.push(columns.map((name) => (name === "name" ? quote(safe(COLUMNS.name.value(row))) : Math.round(COLUMNS[name].value(row)))).join(","));
  }
  return lines.join("\n") + "\n";
}

function tableView(table, state) {
  const columns = columnsOf(table), rows = DATA[table].rows;
  const fallback = table === "kernels" ? "selfDevice" : "self";
  if (!columns.includes(state.sort)) state = { ...state, sort: fallback, dir: "down" };
  const body = element("tbody", {}), count = element("span", { class: "count" }), more = element("div", { class: "more" });
  const most = Object.fromEntries(columns.map((name) => [name, Math.max(1, ...rows.map((row) => (name === "name" ? 0 : COLUMNS[name].value(row))))]));
  let shown = [];

  const fill = (limit) => {
    body.replaceChildren(...shown.slice(0, limit).map((k) => rowElement(table, columns, most, k, state)));
    more.replaceChildren();
    if (shown.length > limit) more.append(element("button", { onclick: () => fill(shown.length) }, "Show all " + countText(shown.length) + " rows"));
  };
  const refresh = () => {
    shown = shownRows(table, state);
    const left = DATA[table].leftOut ? " (" + countText(DATA[table].leftOut) + " small ones left out)" : "";
    count.textContent = shown.length === rows.length ? countText(rows.length) + " rows" + left : countText(shown.length) + " of " + countText(rows.length) + " rows";
    fill(FIRST_ROWS);
  };
  const filter = element("input", {
    type: "search",
    placeholder: "Filter by name, or /regular expression/",
    "aria-label": "Filter",
    value: state.q || "",
    oninput: (event) => {
      state = { ...state, q: event.target.value };
      replaceState(table, state);
      refresh();
    },
  });
  const copy = element("button", { onclick: () => copyText(csvOf(table, columns, shown), copy) }, "Copy as CSV");
  const head = element("tr", {}, columns.map((name) => headElement(table, name, state)));
  refresh();
  return card(
    TABLES[table].title,
    TABLES[table].sub,
    element("div", { class: "tools" }, filter, copy, count),
    element("div", { class: "scroll" }, element("table", {}, element("thead", {}, head), body), more),
  );
}

function headElement(table, name, state) {
  const column = COLUMNS[name], isSorted = state.sort === name;
  const sort = () => go(table, { ...state, sort: name, dir: isSorted ? (state.dir === "up" ? "down" : "up") : name === "name" ? "up" : "down" });
  return element(
    "th",
    { scope: "col", "aria-sort": isSorted ? (state.dir === "up" ? "ascending" : "descending") : null, title: column.what },
    element("button", { onclick: sort }, column.title),
  );
}

function rowElement(table, columns, most, k, state) {
  const row = DATA[table].rows[k], open = () => go(table, { ...state, row: k });
  const cells = columns.map((name) => {
    const column = COLUMNS[name], value = column.value(row);
    if (name === "name") {
      const dot = table === "ops" ? element("i", { style: "background:" + phaseColor(row[ROW.phase]), title: DATA.phases.host[row[ROW.phase]] }) : null;
      return element("td", { class: "name", title: value }, dot, value);
    }
    const bar = column.bar ? element("span", { class: "meter" }, element("span", { style: "width:" + (100 * Math.max(0, value)) / most[name] + "%" })) : null;
    return element("td", {}, column.text(value), bar);
  });
  return element(
    "tr",
    {
      "data-row": k,
      tabindex: "0",
      "aria-selected": String(state.row) === String(k) ? "true" : null,
      onclick: open,
      onkeydown: (event) => {
        if (event.key === "Enter") open();
        const next = event.key === "ArrowDown" ? "nextElementSibling" : event.key === "ArrowUp" ? "previousElementSibling" : null;
        if (next && event.currentTarget[next]) {
          event.preventDefault();
          event.currentTarget[next].focus();
        }
      },
    },
    cells,
  );
}

const detail = document.getElementById("detail");

function showDetail(table, state) {
  const row = DATA[table].rows[state.row];
  detail.hidden = !row;
  if (!row) return;
  const facts = [
    ["Kind", DATA.names[row[ROW.kind]] + (table === "ops" ? ", " + DATA.phases.host[row[ROW.phase]] : "")],
    ["Calls", countText(row[ROW.calls])],
    ["Calls per step", DATA.hasSteps ? digits(row[ROW.calls] / DATA.steps.count) : null],
    ["Self time", table === "kernels" ? null : timeText(row[ROW.self])],
    ["Total time", timeText(row[ROW.total])],
    ["Shortest, average, longest", [row[ROW.shortest], row[ROW.total] / row[ROW.calls], row[ROW.longest]].map(timeText).join(", ")],
    ["Device, self and total", row[ROW.device] && table !== "kernels" ? timeText(row[ROW.selfDevice]) + ", " + timeText(row[ROW.device]) : null],
    ["Memory kept", row[ROW.memory] ? bytesText(row[ROW.memory]) : null],
  ].filter(([, value]) => value !== null);
  const more = DATA[table].details[state.row] || { callers: [], callees: [], kernels: [], times: [] };
  const close = () => go(table, { ...state, row: null });
  detail.replaceChildren(
    element("header", {}, element("h2", {}, DATA.names[row[ROW.name]]), element("button", { class: "quiet", onclick: close, title: "Close (Esc)" }, "Close")),
    element("dl", {}, facts.map(([name, value]) => [element("dt", {}, name), element("dd", {}, value)])),
    ...(more.times.length ? [element("h3", {}, "Over the recording"), sparkline(more.times)] : []),
    ...linkList(table === "kernels" ? "Launched by" : "Called by", more.callers, "ops"),
    ...linkList("Calls", more.callees, "ops"),
    ...linkList("Launches", more.kernels, "kernels"),
  );
  redrawAll();
}

function linkList(title, links, table) {
  if (links.length === 0) return [];
  const most = Math.max(1, ...links.map((link) => link[2]));
  const rows = links.map(([row, calls, time]) =>
    element(
      "div",
      { class: "linkrow" },
      element("a", { class: "mono", href: address(table, { row }), title: DATA.names[DATA[table].rows[row][ROW.name]] }, DATA.names[DATA[table].rows[row][ROW.name]]),
      element("span", {}, timeText(time) + ", " + countText(calls) + (calls === 1 ? " call" : " calls")),
      element("span", { class: "meter" }, element("span", { style: "width:" + (100 * time) / most + "%" })),
    ),
  );
  return [element("h3", {}, title), ...rows];
}
