// The first lines of the overview: the verdict, where a step goes, and the kinds of steps.

const LEVELS = { good: "Good", warn: "Look at this", bad: "Look at this first", unknown: "Not known" };

// Text with `code` in it.
const withCode = (text) => text.split("`").map((part, k) => (k % 2 ? element("code", {}, part) : part));

function verdictCard() {
  const { level, text, unknown, next } = DATA.verdict;
  const isKnownText = level === "unknown" || !unknown;
  return element(
    "section",
    { class: "verdict " + level, "data-level": level },
    element("div", { class: "level" }, LEVELS[level]),
    element("p", { class: "line" }, text),
    isKnownText ? null : element("p", {}, "Not known: " + unknown + "."),
    next ? element("p", {}, "Next: ", withCode(next), ".") : null,
  );
}

// Devices have causes of their own; what a device idles for is a cause of the host.
function causeColor(cause, isIdle) {
  const host = DATA.phases.host.indexOf(cause), device = DATA.phases.device.indexOf(cause);
  if (isIdle) return "color-mix(in srgb, var(--p" + Math.max(0, host) + ") 30%, var(--hover))";
  return host >= 0 ? "var(--p" + host + ")" : "var(--d" + Math.max(0, device) + ")";
}
const causeTitle = (row) => (row.idle ? "idle: " : "") + row.cause;

// [title, nanoseconds, colour] of each cause of a lane, most time first.
function causesOf(rows) {
  const sums = new Map();
  for (const row of rows) {
    const known = sums.get(causeTitle(row)) || [causeTitle(row), 0, causeColor(row.cause, row.idle)];
    known[1] += row.ns_per_step;
    sums.set(known[0], known);
  }
  return [...sums.values()].sort((a, b) => b[1] - a[1]);
}

function causeBar(label, causes) {
  const whole = causes.reduce((sum, [, time]) => sum + time, 0);
  const bar = element("div", { class: "bar", role: "img", "aria-label": label });
  for (const [title, time, background] of causes) {
    const text = title + "\n" + timeText(time) + ", " + shareText(time, whole);
    if (time > 0) bar.append(element("span", { style: "flex:" + time + " 0 0;background:" + background, onmousemove: (event) => showTip(event, text), onmouseleave: hideTip }));
  }
  return bar;
}

function causeLegend(causes) {
  const whole = causes.reduce((sum, [, time]) => sum + time, 0);
  return element("div", { class: "legend" }, causes.filter(([, time]) => time > 0).map(([title, time, background]) => element("span", {}, element("i", { style: "background:" + background }), title, element("b", {}, shareText(time, whole)))));
}

const shortLine = (line) => line.replace(/^.*\//, "").replace(/:([^:]*)$/, " in $1");

const FIRST_CAUSES = 6;
function laneRows(lane, rows) {
  const whole = Math.max(1, rows.reduce((sum, row) => sum + row.ns_per_step, 0));
  const line = (row) => {
    const title = row.label || "all others";
    const table = ["ops", "kernels"].find((each) => row.label && rowNamed(each, row.label) >= 0);
    const name = table ? element("a", { class: "mono", href: address(table, { row: rowNamed(table, row.label) }), title }, shortName(title)) : element("span", { class: "mono", title }, shortName(title));
    return element(
      "div",
      { class: "causerow" },
      element("i", { style: "background:" + causeColor(row.cause, row.idle) }),
      element("span", { class: "cause" }, causeTitle(row)),
      element("span", { class: "what" }, name, row.line ? element("span", { class: "at", title: row.line }, shortLine(row.line)) : null),
      element("span", { class: "time" }, timeText(row.ns_per_step)),
      element("b", {}, shareText(row.ns_per_step, whole)),
    );
  };
  const chosen = rows.filter((row) => row.ns_per_step > 0).sort((a, b) => b.ns_per_step - a.ns_per_step);
  const more = chosen.slice(FIRST_CAUSES);
  return [
    element("div", { class: "causes", role: "list" }, chosen.slice(0, FIRST_CAUSES).map(line)),
    more.length ? element("details", {}, element("summary", {}, more.length + " more, " + shareText(more.reduce((sum, row) => sum + row.ns_per_step, 0), whole)), element("div", { class: "causes" }, more.map(line))) : null,
  ];
}

// The cost of recording is spread over causes as the calls of ops are: each call was recorded, and nothing else was.
function withoutRecording(rows) {
  const cost = costOf(runOf()) || 0, calls = new Map();
  let all = 0;
  for (const row of DATA.ops.rows) {
    const cause = DATA.phases.host[row[ROW.phase]];
    calls.set(cause, (calls.get(cause) || 0) + row[ROW.calls]);
    all += row[ROW.calls];
  }
  const whole = rows.reduce((sum, row) => sum + row.ns_per_step, 0), added = (whole * cost) / (1 + cost);
  const times = new Map(causesOf(rows).map(([title, time]) => [title, time]));
  return rows.map((row) => {
    const time = times.get(row.cause) || 0, part = ((calls.get(row.cause) || 0) / Math.max(1, all)) * added;
    return row.idle || time <= 0 ? row : { ...row, ns_per_step: row.ns_per_step * Math.max(0, 1 - part / time) };
  });
}

function causesCard(state) {
  const cost = costOf(runOf()), isWithout = Boolean(state.without) && cost > 0;
  const lanes = [...DATA.causes.filter((lane) => lane.main || lane.device), ...DATA.causes.filter((lane) => !lane.main && !lane.device).slice(0, 2)];
  const parts = lanes.map((lane) => {
    const rows = isWithout && lane.main ? withoutRecording(lane.causes) : lane.causes, causes = causesOf(rows);
    const whole = rows.reduce((sum, row) => sum + row.ns_per_step, 0);
    return element("div", { class: "lane" }, element("div", { class: "laneline" }, element("h3", {}, lane.lane), element("span", {}, timeText(whole))), causeBar(lane.lane, causes), causeLegend(causes), laneRows(lane, rows));
  });
  const removal = cost > 0 ? element("button", { "aria-pressed": isWithout ? "true" : "false", onclick: () => go("overview", { without: isWithout ? null : 1 }), title: "Spread over causes as the calls of ops are" }, isWithout ? "As it was recorded" : "Without the cost of recording, about " + shareOfOne(cost)) : null;
  const what = DATA.hasSteps ? "Means over the " + DATA.unit + "s that are judged, all but the first." : "Of the whole recording.";
  return card(DATA.hasSteps ? "Where a " + DATA.unit + " goes" : "Where the time goes", what + " Each bar adds up to the whole" + (isWithout ? ", less what recording added." : "."), removal ? element("div", { class: "tools" }, removal) : null, parts);
}

function kindsCard() {
  const kinds = DATA.step_kinds;
  if (kinds.length < 2) return null;
  const rows = kinds.map((kind) => {
    const causes = kind.host.map((time, k) => [DATA.phases.host[k], time, "var(--p" + k + ")"]).sort((a, b) => b[1] - a[1]);
    return element("div", { class: "kind" }, element("span", { class: "what" }, element("b", {}, kind.name), " " + countText(kind.count) + (kind.count === 1 ? " " + DATA.unit : " " + DATA.unit + "s")), element("span", { class: "time" }, timeText(kind.mean_ns)), causeBar(kind.name, causes));
  });
  return card("Kinds of " + DATA.unit + "s", "Told apart by how long they take; times are means.", rows);
}
