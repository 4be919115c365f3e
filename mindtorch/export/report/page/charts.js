// Bars of phases, the chart of steps, and memory over time. Drawn by hand: stacked bars and areas with our colours are less code than
// teaching them to a library, and the page stays small.

function phaseBar(label, times, names, prefix) {
  const whole = times.reduce((sum, time) => sum + time, 0);
  const bar = element("div", { class: "bar", role: "img", "aria-label": label });
  times.forEach((time, k) => {
    if (time <= 0) return;
    const text = names[k] + "\n" + timeText(time) + ", " + shareText(time, whole) + " of the step";
    bar.append(
      element("span", {
        style: "flex:" + time + " 0 0;background:var(--" + prefix + k + ")",
        onmousemove: (event) => showTip(event, text),
        onmouseleave: hideTip,
      }),
    );
  });
  return element("div", { class: "barline" }, element("b", {}, label), bar);
}

function legend(times, names, prefix) {
  const whole = times.reduce((sum, time) => sum + time, 0);
  return element(
    "div",
    { class: "legend" },
    times.map((time, k) =>
      time > 0
        ? element("span", {}, element("i", { style: "background:var(--" + prefix + k + ")" }), names[k], element("b", {}, shareText(time, whole)))
        : null,
    ),
  );
}

const WIDEST_STEP = 90;

// The phases of steps, or of slices of time, as stacked bars.
function stepsChart(steps, kind) {
  const count = steps.durations.length, left = 58, bottom = 22, top = 8;
  // One slow step must not make all the others invisible: it is cut, and marked.
  const usual = steps.median * 3, longest = Math.max(...steps.durations);
  const limit = longest > usual && count > 4 ? usual : longest * 1.05;
  let hover = -1;
  const made = canvas(190, "Duration of each " + kind + " by phase", (context, width, height) => {
    const room = width - left, unit = (height - bottom - top) / limit, step = Math.min(room / count, WIDEST_STEP);
    context.fillStyle = color("faint");
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (let k = 0; k <= 2; ++k) {
      const value = (limit * k) / 2, y = height - bottom - value * unit;
      context.fillText(timeText(value), left - 8, y);
      context.fillRect(left, Math.round(y), room, 0.5);
    }
    const colors = DATA.phases.host.map((_, k) => color("p" + k));
    const gap = step > 6 ? Math.min(3, step * 0.2) : 0;
    steps.host.forEach((phases, k) => {
      let y = height - bottom;
      const scale = Math.min(1, limit / steps.durations[k]);
      context.globalAlpha = hover < 0 || hover === k ? 1 : 0.55;
      phases.forEach((time, phase) => {
        const tall = time * scale * unit;
        context.fillStyle = colors[phase];
        context.fillRect(left + k * step, y - tall, Math.max(0.5, step - gap), tall);
        y -= tall;
      });
      if (scale < 1) {
        context.fillStyle = color("warn");
        context.fillRect(left + k * step, top - 4, Math.max(1, step - gap), 3);
      }
    });
    context.globalAlpha = 1;
    const y = height - bottom - steps.median * unit;
    context.strokeStyle = color("ink");
    context.setLineDash([3, 4]);
    context.beginPath();
    context.moveTo(left, y);
    context.lineTo(width, y);
    context.stroke();
    context.setLineDash([]);
    context.fillStyle = color("faint");
    context.textAlign = "center";
    const every = Math.max(1, Math.ceil(count / 12));
    for (let k = 0; k < count; k += every) context.fillText(steps.numbers[k], left + (k + 0.5) * step - gap / 2, height - 9);
  });
  const at = (event) => {
    const box = made.getBoundingClientRect(), k = Math.floor((event.clientX - box.left - left) / Math.min((box.width - left) / count, WIDEST_STEP));
    return k >= 0 && k < count ? k : -1;
  };
  made.addEventListener("mousemove", (event) => {
    const k = at(event);
    if (k !== hover) {
      hover = k;
      made.redraw();
    }
    if (k < 0) return hideTip();
    const phases = steps.host[k].map((time, phase) => [time, DATA.phases.host[phase]]).filter(([time]) => time > 0);
    phases.sort((a, b) => b[0] - a[0]);
    showTip(event, kind[0].toUpperCase() + kind.slice(1) + " " + steps.numbers[k] + ": " + timeText(steps.durations[k]) + "\n" + phases.slice(0, 5).map(([time, name]) => timeText(time) + "  " + name).join("\n"));
  });
  made.addEventListener("mouseleave", () => {
    hover = -1;
    hideTip();
    made.redraw();
  });
  return made;
}

const MEMORY_COLORS = ["p0", "p5", "p3", "p7", "p2", "p1", "p4", "d3"];

// A line where a step begins, as far as lines have room.
function markSteps(context, x, [first, last], top, bottom) {
  if (!DATA.hasSteps) return;
  let before = -Infinity, numbered = -Infinity;
  context.fillStyle = color("ink");
  context.textAlign = "left";
  DATA.steps.starts.forEach((start, k) => {
    const time = start - DATA.about.start, at = Math.round(x(time)), text = "step " + DATA.steps.numbers[k];
    if (time < first || time > last || at - before < 4) return;
    before = at;
    const isNumbered = at - numbered >= 64 && at + 3 + context.measureText(text).width <= x(last);
    context.globalAlpha = 0.4;
    context.fillRect(at, isNumbered ? top - 12 : top, 0.5, bottom - (isNumbered ? top - 12 : top));
    context.globalAlpha = 1;
    if (!isNumbered) return;
    numbered = at;
    context.fillText(text, at + 3, top - 6);
  });
}

// The time before the first step, if it would take much of the picture. A peak shortly before that step is shown.
function startUpOf(view) {
  const last = view.times[view.times.length - 1] || 0, step = DATA.hasSteps ? DATA.steps.starts[0] - DATA.about.start : 0;
  const first = Math.min(step, view.peakAt - 0.02 * (last - view.peakAt));
  return first > 0.1 * last && first < last ? Math.round(first) : 0;
}

// Memory from the time `first` on.
function memoryChart(view, first) {
  const left = 84, bottom = 22, top = 26, last = view.times[view.times.length - 1] || 1, span = last - first;
  const made = canvas(280, "Memory over time by category", (context, width, height) => {
    const room = width - left - 8, drawn = view.peak - view.before, unit = (height - bottom - top) / Math.max(1, drawn * 1.06);
    const x = (time) => left + Math.max(0, (time - first) / span) * room, y = (bytes) => height - bottom - bytes * unit;
    context.fillStyle = color("faint");
    context.textBaseline = "middle";
    context.textAlign = "right";
    const everyBytes = 2 ** Math.ceil(Math.log2(Math.max(1, drawn / 4)));
    for (let bytes = Math.ceil(view.before / everyBytes) * everyBytes; bytes <= view.peak; bytes += everyBytes) {
      context.fillText(bytesMarkText(bytes, everyBytes), left - 8, y(bytes - view.before));
      context.fillRect(left, Math.round(y(bytes - view.before)), room, 0.5);
    }
    context.textAlign = "center";
    const everyTime = roundStep(span / Math.max(1, Math.floor(room / 110)));
    for (let time = Math.ceil(first / everyTime) * everyTime; time <= last; time += everyTime) {
      const text = withoutZeros(timeText(time)), half = context.measureText(text).width / 2;
      context.fillText(text, Math.min(x(time), width - half), height - 9);
    }
    const base = new Float64Array(view.times.length);
    for (let category = 0; category < 8; ++category) {
      context.beginPath();
      context.moveTo(x(view.times[0] || 0), y(base[0] || 0));
      view.times.forEach((time, k) => {
        if (k > 0) context.lineTo(x(time), y(base[k - 1] + view.bytes[k - 1][category]));
        context.lineTo(x(time), y(base[k] + view.bytes[k][category]));
      });
      for (let k = view.times.length - 1; k >= 0; --k) {
        context.lineTo(x(view.times[k]), y(base[k]));
        if (k > 0) context.lineTo(x(view.times[k]), y(base[k - 1]));
      }
      context.fillStyle = color(MEMORY_COLORS[category]);
      context.fill();
      view.times.forEach((_, k) => (base[k] += view.bytes[k][category]));
    }
    markSteps(context, x, [first, last], top, height - bottom);
    context.strokeStyle = color("ink");
    context.setLineDash([3, 4]);
    context.beginPath();
    context.moveTo(x(view.peakAt), top);
    context.lineTo(x(view.peakAt), height - bottom);
    context.stroke();
    context.setLineDash([]);
    context.fillStyle = color("ink");
    context.textAlign = x(view.peakAt) > width * 0.7 ? "right" : "left";
    context.fillText(" peak " + bytesText(view.peak) + " ", x(view.peakAt), top + 6);
  });
  made.addEventListener("mousemove", (event) => {
    const box = made.getBoundingClientRect(), time = first + ((event.clientX - box.left - left) / (box.width - left - 8)) * span;
    let k = view.times.findIndex((moment) => moment > time) - 1;
    if (k < 0) k = time >= last ? view.times.length - 1 : 0;
    const rows = view.bytes[k].map((bytes, category) => [bytes, categoryName(category)]).filter(([bytes]) => bytes > 0);
    rows.sort((a, b) => b[0] - a[0]);
    showTip(event, timeText(view.times[k]) + "\n" + rows.map(([bytes, name]) => bytesText(bytes) + "  " + name).join("\n"));
  });
  made.addEventListener("mouseleave", hideTip);
  return made;
}

const categoryName = (category) => DATA.categories[category].toLowerCase().replace("_", " ");

function sparkline(times) {
  const most = Math.max(...times, 1);
  return canvas(54, "Time over the recording", (context, width, height) => {
    const step = width / times.length;
    context.fillStyle = color("accent");
    times.forEach((time, k) => {
      const tall = (time / most) * (height - 4);
      context.fillRect(k * step, height - tall, Math.max(0.5, step - 1), tall);
    });
  });
}
