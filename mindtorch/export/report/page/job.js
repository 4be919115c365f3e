// The page about a job: who others wait for, own times by rank, communication, the critical path, and faults.

const USES = DATA.uses.map((name, k) => ({ name, column: 3 + k }));
const RANK = { rank: 0, host: 1, step: 2, hidden: 9, waiting: 10, memory: 11, offset: 12, error: 13, events: 14, file: 15 };

const at = (k) => (row) => row[k];
const orNone = (text) => (value) => (value === null ? "-" : text(value));
const column = {
  time: (title, k, what, bar) => ({ title, value: at(k), text: orNone(timeText), isTime: true, what, bar }),
  count: (title, k, what) => ({ title, value: at(k), text: orNone(countText), what }),
  plain: (title, k, what) => ({ title, value: at(k), text: orNone(String), what }),
  name: (title, k, what) => ({ title, value: at(k), isText: true, what }),
  bytes: (title, k, what) => ({ title, value: at(k), text: orNone(bytesText), what }),
  rate: (title, k, what) => ({ title, value: at(k), text: (value) => (value > 0 ? bytesText(Math.round(value)) + "/s" : "-"), what }),
};

function addTable(table, title, sub, sort, columns, hidden) {
  TABLES[table] = { title, sub, sort, columns, order: () => Object.keys(columns).filter((each) => !(hidden || []).includes(each)), hidden };
}

// Columns that are zero on all ranks would push the others out of sight.
const unusedColumns = [...USES.map((use) => ["use" + use.column, use.column]), ["hidden", RANK.hidden], ["memory", RANK.memory]]
  .filter(([, k]) => DATA.ranks.rows.every((row) => !row[k]))
  .map(([name]) => name);

addTable("ranks", "Ranks", "Means per step. What a step was spent on adds up to the step.", "waiting", {
  rank: column.plain("Rank", RANK.rank),
  host: column.name("Machine", RANK.host),
  step: column.time("Step", RANK.step, "Mean duration of a step", true),
  ...Object.fromEntries(USES.map((use) => ["use" + use.column, column.time(use.name[0].toUpperCase() + use.name.slice(1), use.column)])),
  hidden: column.time("Hidden communication", RANK.hidden, "Communication beside which something computes"),
  waiting: column.time("Waits", RANK.waiting, "For other ranks, inside of collectives", true),
  memory: column.bytes("Peak memory", RANK.memory, "The largest of its devices"),
  offset: column.time("Clock ahead by", RANK.offset, "Of the clock of the reference rank"),
  error: column.time("Known within", RANK.error, "The error bound of the clock"),
  events: column.count("Events", RANK.events),
  file: column.name("File", RANK.file),
}, [...unusedColumns, "events", "file"]);
addTable("communication", "Communication", "Collectives by name, group and size. Transfer is the shortest part that a rank has in a call; the rest is waiting.", "seconds", {
  collective: column.name("Collective", 0),
  group: column.name("Group", 1),
  bytes: column.bytes("Size", 2, "Of one message"),
  count: column.count("Calls", 3),
  ranks: column.count("Ranks", 4),
  seconds: column.time("Time", 5, "Mean over ranks, all calls together", true),
  transfer: column.time("Transfer", 6),
  waiting: column.time("Waiting", 7),
  bandwidth: column.rate("Bandwidth", 8, "Bytes of the message over the time of the transfer"),
  bus: column.rate("Bus bandwidth", 9, "As nccl-tests define it"),
});
addTable("path", "Critical path", "The chain of work and collectives, across ranks, that determined how long the job took.", "step", {
  step: column.plain("Step", 0),
  rank: column.plain("Rank", 1),
  work: column.time("Work", 2, "Of this rank, since the collective before", true),
  late: column.time("Late", 3, "Longer than the median of the other ranks"),
  collective: column.name("Then in collective", 4),
  inside: column.time("Time in it", 5),
});
addTable("pathRanks", "The critical path by rank", "Which ranks the path leads through.", "late", {
  rank: column.plain("Rank", 0),
  pieces: column.count("Pieces", 1),
  work: column.time("Work", 2, null, true),
  late: column.time("Late", 3, "Longer than the median of the other ranks", true),
  collective: column.time("In collectives", 4),
});
addTable("steps", "Steps", "Over all ranks.", "longest", {
  step: column.plain("Step", 0),
  ranks: column.count("Ranks", 1),
  shortest: column.time("Shortest", 2),
  median: column.time("Median", 3),
  longest: column.time("Longest", 4, null, true),
  slowest: column.plain("Slowest rank", 5),
  outlier: { title: "Unusual", value: at(6), text: (value) => (value ? "yes" : "-"), what: "Far above the median of all steps" },
});
addTable("imbalance", "Imbalance", "Work whose time differs most between ranks, per step.", "most", {
  name: column.name("Name", 0),
  kind: column.name("Kind", 1),
  median: column.time("Median", 2),
  most: column.time("Most", 3, null, true),
  rank: column.plain("Rank with most", 4),
});
addTable("faults", "Faults", "What is wrong with the recordings. The rest is answered all the same.", "rank", {
  kind: { ...column.name("Kind", 0), value: (row) => row[0].replace(/_/g, " ") },
  rank: column.plain("Rank", 1),
  text: column.name("What", 3),
  file: column.name("File", 2),
});

const VIEWS = [
  ["overview", "Overview", () => true],
  ["ranks", "Ranks", () => DATA.ranks.rows.length],
  ["steps", "Steps", () => DATA.steps.rows.length],
  ["communication", "Communication", () => DATA.communication.rows.length],
  ["path", "Critical path", () => DATA.path.rows.length],
  ["imbalance", "Imbalance", () => DATA.imbalance.rows.length],
  ["faults", "Faults", () => DATA.faults.rows.length],
].filter(([, , isThere]) => isThere());

function parseAddress() {
  const [view, query] = location.hash.slice(1).split("?");
  const known = TABLES[view] ? DATA[view].rows.length > 0 : view === "overview";
  return known ? [view, Object.fromEntries(new URLSearchParams(query || ""))] : ["overview", {}];
}

function render() {
  const [view, state] = parseAddress(), main = document.getElementById("view"), before = main.dataset.view;
  hideTip();
  main.dataset.view = view;
  main.replaceChildren(...[build(view, state)].flat());
  detail.hidden = true;
  if (state.row !== undefined && DATA[view] && DATA[view].rows[state.row]) showDetail(view, state);
  const tab = ([each, title, size]) =>
    element("a", { href: "#" + each, "aria-current": each === view || (each === "path" && view === "pathRanks") ? "page" : null }, title, TABLES[each] ? element("span", { class: "count" }, countText(size())) : null);
  document.getElementById("tabs").replaceChildren(element("div", {}, VIEWS.map(tab)));
  redrawAll();
  if (before !== undefined && before !== view) window.scrollTo(0, 0);
}

function build(view, state) {
  if (view === "path") return [tableView("pathRanks", {}), tableView("path", state)];
  return TABLES[view] ? tableView(view, state) : overview();
}

function showDetail(table, state) {
  const { columns, title } = TABLES[table], row = DATA[table].rows[state.row];
  const shown = (each) => (each.isText ? each.value(row) : each.text(each.value(row)));
  detail.replaceChildren(
    element("header", {}, element("h2", {}, title), element("button", { class: "quiet", onclick: () => go(table, { ...state, row: null }) }, "Close")),
    element("dl", {}, Object.values(columns).map((each) => [element("dt", {}, each.title), element("dd", {}, shown(each))])),
  );
  detail.hidden = false;
}

function overview() {
  const rows = DATA.ranks.rows, parts = [headline(rows)];
  if (DATA.faults.rows.length) parts.push(element("p", { class: "lost" }, countText(DATA.faults.rows.length) + " faults of the recordings, such as: " + DATA.faults.rows[0][3] + " ", element("a", { href: "#faults" }, "All of them")));
  parts.push(stragglersCard());
  if (DATA.map.steps.length) {
    const shared = DATA.map.ranks.length < rows.length || DATA.map.steps.length < DATA.steps.rows.length ? " Neighbours share a cell, which shows the longest." : "";
    parts.push(card("Own time by rank and step", "A row is a rank. The warmer its colour, the longer the rank was busy in a step. Waiting for other ranks does not count." + shared, stepMapChart()));
  }
  if (rows.length) parts.push(useCard(rows));
  return parts;
}

function headline(rows) {
  const steps = DATA.steps.rows, clocks = DATA.clocks;
  const items = [number(countText(rows.length), DATA.worldSize > 0 && DATA.worldSize !== rows.length ? "ranks of " + countText(DATA.worldSize) : "ranks")];
  if (steps.length) items.push(number(timeText(median(steps.map(at(3)))), "median step"));
  if (clocks.known > 1) items.push(number(timeText(clocks.apart), "clocks apart, known within " + timeText(clocks.error)));
  if (rows.length > 1) items.push(number(digits(100 * DATA.computeImbalance) + " %", "largest compute time above the mean"));
  const peak = Math.max(...rows.map((row) => row[RANK.memory] || 0));
  if (peak > 0) items.push(number(bytesText(peak), "largest peak memory, rank " + rows.find((row) => row[RANK.memory] === peak)[RANK.rank]));
  return element("section", { class: "card numbers" }, items);
}

// What is a twentieth of the loss or less is noise.
const worthTelling = (straggler) => straggler.work.filter(([, , lost]) => lost >= 0.05 * straggler.lost);

function stragglersCard() {
  if (DATA.stragglers.length === 0) return card("Stragglers", null, element("p", { class: "healthy" }, "Others wait for no rank for 1 % of the time or more."));
  return card(
    "Stragglers",
    "Ranks that others wait for, and the work in which they lose the time.",
    DATA.stragglers.map((each) =>
      element(
        "div",
        { class: "finding", "data-rank": each.rank },
        element("div", {}, element("div", { class: "share" }, digits(100 * each.share) + " %"), element("div", { class: "cost" }, timeText(each.lost))),
        element(
          "div",
          {},
          element("h3", {}, "Rank " + each.rank + (each.host ? " on " + each.host : "")),
          element("p", {}, timeText(each.lost) + " lost in " + countText(each.steps) + (each.steps === 1 ? " step" : " steps")),
          element("ul", {}, worthTelling(each).map(([work, kind, lost]) => element("li", {}, timeText(lost) + " more than other ranks in " + work + " (" + kind + ")"))),
        ),
      ),
    ),
  );
}

// The ranks that wait least come first: they are the ones that others wait for.
function useCard(rows) {
  const chosen = [...rows].sort((a, b) => a[RANK.waiting] - b[RANK.waiting]).slice(0, 8);
  const times = (row) => USES.map((use) => row[use.column]);
  const mean = USES.map((use) => rows.reduce((sum, row) => sum + row[use.column], 0) / rows.length);
  return card(
    "What a step is spent on",
    "The mean of all ranks" + (rows.length > 1 ? ", and the ranks that wait least for others." : "."),
    phaseBar("All", mean, DATA.uses, "p"),
    rows.length > 1 ? chosen.map((row) => phaseBar(String(row[RANK.rank]), times(row), DATA.uses, "p")) : null,
    legend(mean, DATA.uses, "p"),
  );
}

document.getElementById("title").textContent = DATA.title;
document.getElementById("subtitle").textContent = countText(DATA.ranks.rows.length) + " ranks \u00b7 " + countText(DATA.steps.rows.length + DATA.steps.leftOut) + " steps \u00b7 " + countText(DATA.communication.rows.reduce((sum, row) => sum + row[3], 0)) + " collectives";
setTheme(firstTheme());
render();
