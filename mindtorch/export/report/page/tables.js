// Tables that can be sorted, filtered and copied as CSV. details.js and compared.js say which tables there are.

const FIRST_ROWS = 200;

// A table has rows in DATA[name], columns by name, and the names of the columns that are shown (`order`) and of those that only the CSV
// has (`hidden`). A column has a title, a value, and a text for the value; `isText` columns are not numbers.
const TABLES = {};

const columnsOf = (table) => TABLES[table].order();
const csvColumnsOf = (table) => [...columnsOf(table), ...(TABLES[table].hidden || [])];

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
  const { columns, keeps } = TABLES[table], rows = DATA[table].rows, matches = matcher(state.q || "");
  const texts = columnsOf(table).filter((name) => columns[name].isText);
  const column = columns[state.sort], direction = state.dir === "up" ? 1 : -1, rank = column.rank || column.value;
  const chosen = [...rows.keys()].filter((k) => (!keeps || keeps(rows[k], state)) && matches(texts.map((name) => columns[name].value(rows[k])).join(" ")));
  chosen.sort((a, b) => {
    const x = rank(rows[a]), y = rank(rows[b]);
    return (x < y ? -1 : x > y ? 1 : 0) * direction || a - b;
  });
  return chosen;
}

function csvText(titles, lines) {
  const quote = (text) => '"' + String(text).replace(/"/g, '""') + '"';
  // A spreadsheet would run a name that looks like a formula.
  const safe = (text) => (/^[=+\-@\t\r]/.test(text) ? "'" + text : text);
  const cell = (value) => (value === null || value === undefined ? "" : typeof value === "number" ? String(Math.round(value * 1000) / 1000) : quote(safe(value)));
  return [titles.map(quote).join(","), ...lines.map((line) => line.map(cell).join(","))].join("\n") + "\n";
}

function csvOf(table, columns, shown) {
  const of = TABLES[table].columns;
  const titles = columns.map((name) => of[name].title + (of[name].isTime ? " (ns)" : ""));
  return csvText(titles, shown.map((k) => columns.map((name) => of[name].value(DATA[table].rows[k]))));
}

function copyButton(label, text) {
  const button = element("button", { onclick: () => copyText(text(), button) }, label);
  return button;
}

function tableView(table, state) {
  const described = TABLES[table], columns = columnsOf(table), rows = DATA[table].rows;
  if (!columns.includes(state.sort)) state = { ...state, sort: described.sort, dir: "down" };
  const body = element("tbody", {}), count = element("span", { class: "count" }), more = element("div", { class: "more" });
  const most = Object.fromEntries(columns.filter((name) => described.columns[name].bar).map((name) => [name, Math.max(1, ...rows.map((row) => described.columns[name].value(row)))]));
  let shown = [];

  const fill = (limit) => {
    body.replaceChildren(...shown.slice(0, limit).map((k) => rowElement(table, columns, most, k, state)));
    more.replaceChildren();
    if (shown.length > limit) more.append(element("button", { onclick: () => fill(shown.length) }, "Show all " + countText(shown.length) + " rows"));
  };
  const refresh = () => {
    shown = shownRows(table, state);
    const left = DATA[table].leftOut ? " (" + countText(DATA[table].leftOut) + " small ones left out)" : "";
    count.textContent = shown.length === rows.length ? countText(rows.length) + (rows.length === 1 ? " row" : " rows") + left : countText(shown.length) + " of " + countText(rows.length) + " rows";
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
  const copy = copyButton("Copy as CSV", () => csvOf(table, csvColumnsOf(table), shown));
  const head = element("tr", {}, columns.map((name) => headElement(table, name, state)));
  refresh();
  return card(
    described.title,
    described.sub,
    element("div", { class: "tools" }, filter, described.tools ? described.tools(table, state) : null, copy, count),
    element("div", { class: "scroll" }, element("table", {}, element("thead", {}, head), body), more),
  );
}

function headElement(table, name, state) {
  const column = TABLES[table].columns[name], isSorted = state.sort === name;
  const sort = () => go(table, { ...state, sort: name, dir: isSorted ? (state.dir === "up" ? "down" : "up") : column.isText ? "up" : "down" });
  return element(
    "th",
    { scope: "col", class: column.isText ? "text" : null, "aria-sort": isSorted ? (state.dir === "up" ? "ascending" : "descending") : null, title: column.what },
    element("button", { onclick: sort }, column.title),
  );
}

function rowElement(table, columns, most, k, state) {
  const row = DATA[table].rows[k], open = () => go(table, { ...state, row: k });
  const cells = columns.map((name) => {
    const column = TABLES[table].columns[name], value = column.value(row);
    if (column.cell) return column.cell(row);
    if (column.isText) return element("td", { class: "name", title: value }, column.mark ? column.mark(row, table) : null, shortName(value));
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
