// The report of a recording: views and the overview.

// [name, title, whether the view has something to show or how much, what would fill it]. A view that nothing can fill is left out.
const ALL_VIEWS = [
  ["overview", "Overview", () => true],
  ["compared", "Compared", () => (DATA.compared ? DATA.compared.parts.concat(DATA.compared.rows).filter((row) => row[PAIR.change]).length || true : 0), { shows: "What changed since another run of the program", command: "mtprof report THIS.mtrec --baseline OTHER.mtrec" }],
  ["ops", "Ops", () => DATA.ops.rows.length],
  ["kernels", "Device work", () => DATA.kernels.rows.length],
  ["modules", "Modules", () => DATA.modules.rows.length, { shows: "The time of each nn.Module", option: "modules", command: "mtprof run --modules train.py", code: "profile(with_modules=True)" }],
  ["lines", "Lines", () => DATA.lines.rows.length, { shows: "The lines of your code under which time passes", option: "stack", command: "mtprof run --stack train.py", code: "profile(with_stack=True)" }],
  ["efficiency", "Efficiency", () => EFFICIENCY.ops.length, { shows: "How far ops were from what the device can do", option: "shapes", command: "mtprof run --shapes train.py", code: "profile(record_shapes=True)" }],
  ["flame", "Flame graph", () => DATA.flames[0].nodes.length > 1],
  ["memory", "Memory", () => DATA.memory.length, { shows: "Memory over time, and what holds it", option: "memory", command: "mtprof run --memory train.py", code: "profile(profile_memory=True)" }],
  ["timeline", "Timeline", () => DATA.timelines.some((view) => view.starts.length)],
];
const VIEWS = ALL_VIEWS.filter(([, , isThere]) => isThere());
const EMPTY_VIEWS = ALL_VIEWS.filter(([, , isThere, filling]) => !isThere() && filling);

function parseAddress() {
  const [view, query] = location.hash.slice(1).split("?");
  const known = EMPTY_VIEWS.some(([name]) => name === view) || (TABLES[view] ? DATA[view].rows.length > 0 : VIEWS.some(([name]) => name === view));
  if (known) return [view, Object.fromEntries(new URLSearchParams(query || ""))];
  return [DATA.compared && DATA.compared.isFirst && view === "" ? "compared" : "overview", {}];
}

function render() {
  const [view, state] = parseAddress(), main = document.getElementById("view");
  hideTip();
  const before = main.dataset.view;
  main.dataset.view = view;
  main.replaceChildren(...[build(view, state)].flat());
  detail.hidden = true;
  if (TABLES[view] && DATA[view] && state.row !== undefined) showDetail(view, state);
  document.getElementById("tabs").replaceChildren(
    element("div", {}, ALL_VIEWS.map(([name, title, count, filling]) => {
      if (!count()) return filling ? element("a", { href: "#" + name, class: "empty", title: filling.shows + ": " + filling.command + priceText(filling), "aria-current": name === view ? "page" : null }, title) : null;
      const size = TABLES[name] && count() > 0 ? element("span", { class: "count" }, countText(count())) : null;
      const isCurrent = name === view || (name === "ops" && GROUPINGS.some(([table]) => table === view)) || (name === "compared" && view === "comparedParts") || (name === "efficiency" && view.startsWith(name));
      return element("a", { href: "#" + name, "aria-current": isCurrent ? "page" : null }, title, size);
    })),
  );
  redrawAll();
  if (before !== undefined && before !== view) window.scrollTo(0, 0);
}

// What recording with an option more would cost, as it was measured when this recording ended.
function priceText(filling) {
  const price = filling.option && runOf() && (runOf().option_shares || {})[filling.option];
  return price === undefined || price === null || price === false ? "" : " (makes a step about " + digits(100 * price) + " % longer)";
}

function emptyView([, title, , filling]) {
  return card(
    title,
    null,
    element("p", {}, filling.shows + ": this recording does not have that."),
    element("p", { class: "sub" }, "To have it: ", element("code", {}, filling.command), filling.code ? [", or ", element("code", {}, filling.code), " in the program"] : null, priceText(filling), "."),
  );
}

function build(view, state) {
  const empty = EMPTY_VIEWS.find(([name]) => name === view);
  if (empty) return emptyView(empty);
  if (view === "compared" || view === "comparedParts") return comparedView(view, state);
  if (view.startsWith("efficiency")) return efficiencyView(view, state);
  if (TABLES[view]) return tableView(view, state);
  if (view === "flame") return flameView(state);
  if (view === "memory") return memoryView(state);
  if (view === "timeline") return timelineView(state);
  return overview(state);
}

function headline() {
  const steps = DATA.steps, items = [];
  if (DATA.hasSteps) {
    items.push(number(timeText(DATA.mean_step_ns), "mean " + DATA.unit), number(timeText(steps.median), "median"));
    if (steps.count > 3) items.push(number(timeText(DATA.p95_step_ns), "95 % take less"));
    items.push(number(countText(steps.count), DATA.unit + (steps.count === 1 ? "" : "s")));
  } else {
    items.push(number(timeText(steps.durations[0] || 0), "recorded, without steps"));
  }
  for (const lane of DATA.causes.filter((each) => each.device)) items.push(number(shareText(lane.causes.reduce((sum, row) => sum + (row.idle ? 0 : row.ns_per_step), 0), lane.ns_per_step), "device busy"));
  for (const view of DATA.memory.slice(-1)) items.push(number(bytesText(view.peak), "peak memory, " + view.device));
  const cost = costOf(runOf());
  if (cost !== null) items.push(number(shareOfOne(cost), "added by recording, about"));
  return element("section", { class: "card numbers" }, items);
}

function overview(state) {
  const lost = DATA.about.losses.map((loss) => JSON.parse(loss)).filter((loss) => loss.count > 0);
  const parts = [verdictCard(), headline()];
  if (lost.length) parts.unshift(element("p", { class: "lost" }, "Events are missing: " + lost.map((loss) => countText(loss.count) + " (" + loss.reason.replace(/_/g, " ") + ")").join(", ") + "."));
  parts.push(causesCard(state));
  if (DATA.compared) parts.push(comparedSummary(true));
  parts.push(findingsCard(), kindsCard());
  if (DATA.hasSteps && DATA.steps.count > 1) {
    const some = DATA.steps.durations.length < DATA.steps.count ? " " + countText(DATA.steps.durations.length) + " of " + countText(DATA.steps.count) + " are shown, the slowest among them." : "";
    parts.push(card("Each " + DATA.unit, "Its duration by cause; the dashed line is the median." + some, stepsChart(DATA.steps, DATA.unit), element("div", { class: "tools after" }, copyButton("Copy as CSV", () => stepsCsv(DATA.steps)))));
  }
  if (DATA.slices) parts.push(card("Over time", "The recording has no steps. These are slices of " + timeText(DATA.slices.median) + ", by cause.", stepsChart(DATA.slices, "slice"), element("div", { class: "tools after" }, copyButton("Copy as CSV", () => stepsCsv(DATA.slices)))));
  parts.push(largestCards(), aboutCard());
  return parts.filter(Boolean);
}

function stepsCsv(steps) {
  const { numbers, starts, durations, host, device } = steps, isThere = DATA.hasDevice;
  const titles = ["Step", "Start (ns)", "Duration (ns)", ...DATA.phases.host.map((name) => name + " (ns)"), ...(isThere ? DATA.phases.device.map((name) => "device " + name + " (ns)") : [])];
  return csvText(titles, numbers.map((step, k) => [step, starts[k], durations[k], ...host[k], ...(isThere ? device[k] : [])]));
}

function findingsCard() {
  if (DATA.findings.length === 0) return null;
  return card(
    "Findings",
    "What costs time without need, " + (DATA.prediction.step_ns ? "the largest gain" : "the most expensive") + " first. Costs are measured, per " + (DATA.hasSteps ? DATA.unit : "recording") + ", and no moment counts twice." + combinedText(),
    DATA.findings.map((finding) =>
      element(
        "div",
        { class: "finding", "data-finding": finding.id },
        finding.cost_ns ? element("div", {}, element("div", { class: "share" }, Math.round(100 * finding.share) + " %"), element("div", { class: "cost" }, timeText(finding.cost_ns))) : element("div", {}, element("div", { class: "share" }, finding.bytes_per_step ? bytesText(finding.bytes_per_step) : "")),
        element(
          "div",
          {},
          element("h3", {}, finding.title),
          gainLine(finding),
          element("ul", {}, finding.evidence.map((line) => element("li", {}, line))),
          finding.lines.length ? element("div", { class: "chips" }, finding.lines.map((line) => element("a", { class: "chip", href: address("lines", { q: line }), title: line }, line))) : null,
          element("p", { class: "remedy" }, finding.remedy),
          finding.ops.length ? element("div", { class: "chips" }, finding.ops.map(opChip)) : null,
        ),
      ),
    ),
  );
}

// What a step would take with the remedy of a finding.
function gainLine(finding) {
  const prediction = DATA.prediction;
  if (!finding.cost_ns) return null;
  if (finding.predicted_step_ns === null) return prediction.problem ? element("p", { class: "gain none" }, "Gain not predicted: " + prediction.problem + ".") : null;
  if (100 * (prediction.base_ns - finding.predicted_step_ns) < prediction.base_ns) return element("p", { class: "gain none" }, "No gain: a " + DATA.unit + " would still take " + timeText(finding.predicted_step_ns) + ", because other work hides this.");
  return element("p", { class: "gain" }, DATA.unit + " " + timeText(prediction.base_ns) + " → " + timeText(finding.predicted_step_ns) + (finding.at_best ? " at best" : ""));
}

// What the first findings gain together.
function combinedText() {
  const { base_ns, combined_ns } = DATA.prediction;
  const count = Math.min(3, combined_ns.length);
  return count < 2 ? "" : " The first " + (count === 2 ? "two" : "three") + " together: " + DATA.unit + " " + timeText(base_ns) + " → " + timeText(combined_ns[count - 1]) + ".";
}

function opChip(name) {
  for (const table of ["ops", "kernels"]) {
    const row = rowNamed(table, name);
    if (row >= 0) return element("a", { class: "chip", href: address(table, { row }), title: name }, shortName(name));
  }
  return element("span", { class: "chip", title: name }, name);
}

function largestCards() {
  const list = (table, column, title) => {
    const rows = [...DATA[table].rows.keys()].sort((a, b) => DATA[table].rows[b][column] - DATA[table].rows[a][column]).slice(0, 6);
    const most = Math.max(1, ...rows.map((k) => DATA[table].rows[k][column]));
    return card(
      title,
      null,
      rows.filter((k) => DATA[table].rows[k][column] > 0).map((k) =>
        element(
          "div",
          { class: "linkrow" },
          workLink(table, k),
          element("span", {}, timeText(DATA[table].rows[k][column])),
          element("span", { class: "meter" }, element("span", { style: "width:" + (100 * DATA[table].rows[k][column]) / most + "%" })),
        ),
      ),
    );
  };
  const cards = [list("ops", ROW.self, "Most host time")];
  if (DATA.kernels.rows.length) cards.push(list("kernels", ROW.selfDevice, "Most device time"));
  else if (DATA.modules.rows.length) cards.push(list("modules", ROW.self, "Most time by module"));
  else if (DATA.lines.rows.length) cards.push(list("lines", ROW.self, "Most time by line"));
  return element("div", { class: "grid", style: "margin-bottom:16px" + (cards.length < 2 ? ";grid-template-columns:1fr" : "") }, cards);
}

function aboutCard() {
  const about = DATA.about, facts = [["Recording", about.title], ["Recorded", about.unixNs > 0 ? new Date(about.unixNs / 1e6).toISOString().replace("T", " ").slice(0, 19) + " UTC" : null], ["Length", timeText(about.duration)], ["Events", countText(about.events) + " on " + about.tracks + " threads and streams"], ["Recorded with", about.options.join(", ") || "times only"]];
  for (const [key, json] of Object.entries(about.metadata)) {
    if (key.startsWith("spill_") || ["open_step", "resident_bytes"].includes(key)) continue;
    if (key === "mtprof_run") facts.push(...runFacts(JSON.parse(json)));
    else facts.push([key.replace(/_/g, " "), json.startsWith('"') ? JSON.parse(json) : json]);
  }
  facts.push(["Lost", about.losses.length ? about.losses.map((loss) => JSON.parse(loss)).map((loss) => countText(loss.count) + " " + loss.reason.replace(/_/g, " ")).join(", ") : "nothing"]);
  const shown = facts.filter(([, value]) => value !== null && value !== "");
  const keys = element("p", { class: "note keys" }, "Keys: ", element("kbd", {}, "1"), " to ", element("kbd", {}, String(VIEWS.length)), " views, ", element("kbd", {}, "/"), " filter, ", element("kbd", {}, "t"), " light or dark, ", element("kbd", {}, "Esc"), " close.");
  return card("About this recording", null, element("dl", { class: "facts" }, shown.map(([name, value]) => [element("dt", {}, name), element("dd", {}, value)])), keys);
}

// What `mtprof run` says about the recording; null for others.
const runOf = () => (DATA.about.metadata.mtprof_run ? JSON.parse(DATA.about.metadata.mtprof_run) : null);

// The time that recording added, as a share of the time without it; null if that is not known.
const costOf = (run) => (run && typeof run.cost_share === "number" ? run.cost_share : null);
const shareOfOne = (share) => shareText(share, 1);

function runFacts(run) {
  const facts = [["Command", run.command.join(" ")], ["Profiling took", timeText(run.start_ns) + " to start, " + timeText(run.stop_ns) + " to stop"]];
  if (costOf(run) !== null) facts.push(["Cost of recording", shareOfOne(costOf(run)) + (DATA.hasSteps ? " of a step" : " of the time") + (run.cost_source === "steps" ? ", compared with steps that were not recorded" : ", by prices of ops that were measured when the program ended")]);
  return facts;
}

function memoryView(state) {
  return DATA.memory.map((view) => {
    const first = state.startup ? 0 : startUpOf(view);
    const startUp = startUpOf(view) ? element("button", { "aria-pressed": state.startup ? "true" : "false", onclick: () => go("memory", { startup: state.startup ? null : 1 }) }, state.startup ? "Only the steps" : "Show the start-up too") : null;
    const peaks = DATA.categories.map((_, category) => Math.max(0, ...view.bytes.map((row) => row[category])));
    const names = element("div", { class: "legend" }, peaks.map((peak, k) => (peak > 0 ? element("span", {}, element("i", { style: "background:var(--" + MEMORY_COLORS[k] + ")" }), categoryName(k), element("b", {}, bytesText(peak))) : null)));
    const most = Math.max(1, ...view.holders.map((holder) => holder[1]));
    const holders = view.holders.map(([name, bytes, blocks]) =>
      element("div", { class: "linkrow" }, element("span", { class: "mono", title: name }, name), element("span", {}, bytesText(bytes) + (blocks ? ", " + countText(blocks) + (blocks === 1 ? " block" : " blocks") : "")), element("span", { class: "meter" }, element("span", { style: "width:" + (100 * bytes) / most + "%" }))),
    );
    return [
      card("Memory of " + view.device, "Bytes by category; the legend gives the most that each category held. " + countText(view.allocations) + " allocations of " + bytesText(view.allocated) + " in all." + (view.before ? " " + bytesText(view.before) + " were allocated before the recording: the axis begins there." : "") + (first ? " The first " + timeText(first) + ", the start-up, are left out." : ""), startUp ? element("div", { class: "tools" }, startUp) : null, memoryChart(view, first), names),
      card("Who holds the memory at the peak of " + bytesText(view.peak), DATA.about.options.includes("stacks") ? "By the line and the op that allocated it." : "By the op that allocated it; with --stack, by its line too.", holders, element("div", { class: "tools after" }, copyButton("Copy as CSV", () => csvText(["Name", "Bytes", "Blocks"], view.holders)))),
    ];
  }).flat();
}

document.getElementById("title").textContent = DATA.about.title;
document.getElementById("subtitle").textContent = [
  DATA.hasSteps ? countText(DATA.steps.count) + " steps" : null,
  countText(DATA.about.events) + " events",
  timeText(DATA.about.duration || DATA.steps.durations[0] || 0),
  JSON.parse(DATA.about.metadata.host_name || '""'),
].filter(Boolean).join(" \u00b7 ");
setTheme(firstTheme());
render();
