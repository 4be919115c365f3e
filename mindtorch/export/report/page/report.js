// The report of a recording: views and the overview.

// [name, title, whether the view has something to show or how much]
const VIEWS = [
  ["overview", "Overview", () => true],
  ["compared", "Compared", () => (DATA.compared ? DATA.compared.rows.filter((row) => row[PAIR.change]).length || true : 0)],
  ["ops", "Ops", () => DATA.ops.rows.length],
  ["kernels", "Device work", () => DATA.kernels.rows.length],
  ["modules", "Modules", () => DATA.modules.rows.length],
  ["lines", "Lines", () => DATA.lines.rows.length],
  ["flame", "Flame graph", () => DATA.flames[0].nodes.length > 1],
  ["memory", "Memory", () => DATA.memory.length],
  ["timeline", "Timeline", () => DATA.timelines.some((view) => view.starts.length)],
].filter(([, , isThere]) => isThere());

function parseAddress() {
  const [view, query] = location.hash.slice(1).split("?");
  const known = TABLES[view] ? DATA[view].rows.length > 0 : VIEWS.some(([name]) => name === view);
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
  if (TABLES[view] && state.row !== undefined) showDetail(view, state);
  document.getElementById("tabs").replaceChildren(
    element("div", {}, VIEWS.map(([name, title, count]) => {
      const size = TABLES[name] && count() > 0 ? element("span", { class: "count" }, countText(count())) : null;
      const isCurrent = name === view || (name === "ops" && GROUPINGS.some(([table]) => table === view));
      return element("a", { href: "#" + name, "aria-current": isCurrent ? "page" : null }, title, size);
    })),
  );
  redrawAll();
  if (before !== undefined && before !== view) window.scrollTo(0, 0);
}

function build(view, state) {
  if (view === "compared") return comparedView(state);
  if (TABLES[view]) return tableView(view, state);
  if (view === "flame") return flameView(state);
  if (view === "memory") return memoryView();
  if (view === "timeline") return timelineView(state);
  return overview();
}

function headline(host, device) {
  const steps = DATA.steps, items = [];
  if (DATA.hasSteps) {
    items.push(number(timeText(steps.median), "median step"), number(countText(steps.count), steps.count === 1 ? "step" : "steps"));
    if (steps.count > 3) items.push(number(digits(Math.max(...steps.durations) / Math.max(1, steps.median)) + " \u00d7", "slowest step to median"));
  } else {
    items.push(number(timeText(steps.durations[0] || 0), "recorded, without steps"));
  }
  if (DATA.hasDevice) items.push(number(shareText(device[0] + device[1] + device[2], device.reduce((a, b) => a + b, 0)), "device busy"));
  items.push(number(shareText(host[7], host.reduce((a, b) => a + b, 0)), "Python between ops"));
  for (const view of DATA.memory.slice(-1)) items.push(number(bytesText(view.peak), "peak memory, " + view.device));
  return element("section", { class: "card numbers" }, items);
}

function overview() {
  const host = typicalStep(DATA.steps.host), device = typicalStep(DATA.steps.device);
  const lost = DATA.about.losses.map((loss) => JSON.parse(loss)).filter((loss) => loss.count > 0);
  const parts = [headline(host, device)];
  if (lost.length) parts.unshift(element("p", { class: "lost" }, "Events are missing: " + lost.map((loss) => countText(loss.count) + " (" + loss.reason.replace(/_/g, " ") + ")").join(", ") + "."));
  parts.push(
    card(
      DATA.hasSteps ? "Where a step goes" : "Where the time goes",
      DATA.hasSteps ? "Medians over the steps. Each bar adds up to a whole step." : "Each bar adds up to the whole recording.",
      phaseBar("Host", host, DATA.phases.host, "p"),
      DATA.hasDevice ? phaseBar("Device", device, DATA.phases.device, "d") : null,
      legend(host, DATA.phases.host, "p"),
      DATA.hasDevice ? legend(device, DATA.phases.device.map((name) => "device: " + name), "d") : null,
    ),
  );
  if (DATA.compared) parts.push(comparedSummary(true));
  parts.push(findingsCard());
  if (DATA.hasSteps && DATA.steps.count > 1) {
    const some = DATA.steps.durations.length < DATA.steps.count ? " " + countText(DATA.steps.durations.length) + " of " + countText(DATA.steps.count) + " steps are shown, the slowest among them." : "";
    parts.push(card("Steps", "Duration of each step by phase; the dashed line is the median." + some, stepsChart(DATA.steps, "step"), element("div", { class: "tools after" }, copyButton("Copy as CSV", () => stepsCsv(DATA.steps)))));
  }
  if (DATA.slices) parts.push(card("Over time", "The recording has no steps. These are slices of " + timeText(DATA.slices.median) + ", by phase.", stepsChart(DATA.slices, "slice"), element("div", { class: "tools after" }, copyButton("Copy as CSV", () => stepsCsv(DATA.slices)))));
  parts.push(largestCards(), aboutCard());
  return parts;
}

function stepsCsv(steps) {
  const { numbers, starts, durations, host, device } = steps, isThere = DATA.hasDevice;
  const titles = ["Step", "Start (ns)", "Duration (ns)", ...DATA.phases.host.map((name) => name + " (ns)"), ...(isThere ? DATA.phases.device.map((name) => "device " + name + " (ns)") : [])];
  return csvText(titles, numbers.map((step, k) => [step, starts[k], durations[k], ...host[k], ...(isThere ? device[k] : [])]));
}

function findingsCard() {
  if (DATA.findings.length === 0) {
    return card("Findings", null, element("p", { class: "healthy" }, "Nothing stands out: no rule found anything that costs 5 % of the time or more."));
  }
  return card(
    "Findings",
    "What costs time without need, the most expensive first. Costs are measured, per step.",
    DATA.findings.map((finding) =>
      element(
        "div",
        { class: "finding", "data-finding": finding.id },
        element("div", {}, element("div", { class: "share" }, Math.round(100 * finding.share) + " %"), element("div", { class: "cost" }, timeText(finding.cost_ns))),
        element(
          "div",
          {},
          element("h3", {}, finding.title),
          element("ul", {}, finding.evidence.map((line) => element("li", {}, line))),
          finding.lines.length ? element("div", { class: "chips" }, finding.lines.map((line) => element("a", { class: "chip", href: address("lines", { q: line }), title: line }, line))) : null,
          element("p", { class: "remedy" }, finding.remedy),
          finding.ops.length ? element("div", { class: "chips" }, finding.ops.map(opChip)) : null,
        ),
      ),
    ),
  );
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
    const whole = DATA[table].rows.reduce((sum, row) => sum + Math.max(0, row[column]), 0);
    return card(
      title,
      null,
      rows.filter((k) => DATA[table].rows[k][column] > 0).map((k) =>
        element(
          "div",
          { class: "linkrow" },
          workLink(table, k),
          element("span", {}, timeText(DATA[table].rows[k][column]) + ", " + shareText(DATA[table].rows[k][column], whole)),
          element("span", { class: "meter" }, element("span", { style: "width:" + (100 * DATA[table].rows[k][column]) / Math.max(1, whole) + "%" })),
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
    if (key.startsWith("spill_") || key === "open_step") continue;
    if (key === "mtprof_run") facts.push(...runFacts(JSON.parse(json)));
    else facts.push([key.replace(/_/g, " "), json.startsWith('"') ? JSON.parse(json) : json]);
  }
  facts.push(["Lost", about.losses.length ? about.losses.map((loss) => JSON.parse(loss)).map((loss) => countText(loss.count) + " " + loss.reason.replace(/_/g, " ")).join(", ") : "nothing"]);
  const shown = facts.filter(([, value]) => value !== null && value !== "");
  const keys = element("p", { class: "note keys" }, "Keys: ", element("kbd", {}, "1"), " to ", element("kbd", {}, String(VIEWS.length)), " views, ", element("kbd", {}, "/"), " filter, ", element("kbd", {}, "t"), " light or dark, ", element("kbd", {}, "Esc"), " close.");
  return card("About this recording", null, element("dl", { class: "facts" }, shown.map(([name, value]) => [element("dt", {}, name), element("dd", {}, value)])), keys);
}

function runFacts(run) {
  const facts = [["Command", run.command.join(" ")], ["Profiling took", timeText(run.start_ns) + " to start, " + timeText(run.stop_ns) + " to stop"]];
  if (run.ns_per_event) facts.push(["Cost per event", Math.round(run.ns_per_event) + " ns, about " + digits((100 * run.ns_per_event * DATA.about.events) / Math.max(1, DATA.about.duration)) + " % of the time"]);
  return facts;
}

function memoryView() {
  return DATA.memory.map((view) => {
    const peaks = DATA.categories.map((_, category) => Math.max(0, ...view.bytes.map((row) => row[category])));
    const names = element("div", { class: "legend" }, peaks.map((peak, k) => (peak > 0 ? element("span", {}, element("i", { style: "background:var(--" + MEMORY_COLORS[k] + ")" }), categoryName(k), element("b", {}, bytesText(peak))) : null)));
    const most = Math.max(1, ...view.holders.map((holder) => holder[1]));
    const holders = view.holders.map(([name, bytes, blocks]) =>
      element("div", { class: "linkrow" }, element("span", { class: "mono", title: name }, name), element("span", {}, bytesText(bytes) + (blocks ? ", " + countText(blocks) + (blocks === 1 ? " block" : " blocks") : "")), element("span", { class: "meter" }, element("span", { style: "width:" + (100 * bytes) / most + "%" }))),
    );
    return [
      card("Memory of " + view.device, "Bytes by category; the legend gives the most that each category held. " + countText(view.allocations) + " allocations of " + bytesText(view.allocated) + " in all." + (view.before ? " " + bytesText(view.before) + " were allocated before the recording: the axis begins there." : ""), memoryChart(view), names),
      card("Who holds the memory at the peak of " + bytesText(view.peak), "By the op that allocated it.", holders, element("div", { class: "tools after" }, copyButton("Copy as CSV", () => csvText(["Name", "Bytes", "Blocks"], view.holders)))),
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
