// The timeline of one step: threads, streams and counters, zoomed with the wheel or w and s, moved by dragging or with a and d. Drawn by
// hand on a canvas: a hundred thousand slices are a hundred thousand elements for a library that draws with elements.

const SLICE_ROW = 17;
const COUNTER_ROW = 46;
const GUTTER = 132;
const HEAD = 22;

function sliceStarts(view) {
  if (!view.absolute) {
    let now = view.start;
    view.absolute = view.starts.map((difference) => (now += difference));
  }
  return view.absolute;
}

// Tracks and counters with their places on the canvas, and the height of all of them.
function timelineLayout(view) {
  let y = HEAD;
  const tracks = view.tracks.map(([name, isDevice, first, count]) => {
    let depth = 0;
    for (let k = first; k < first + count; ++k) depth = Math.max(depth, view.depths[k]);
    const track = { name, isDevice, first, count, rows: Math.min(depth + 1, 24), y };
    y += track.rows * SLICE_ROW + 14;
    return track;
  });
  const counters = view.counters.map(([name, device, times, values]) => {
    const counter = { name: name + ", " + device, times, values, most: Math.max(1, ...values), text: name === "queued" ? countText : bytesText, y };
    y += COUNTER_ROW + 14;
    return counter;
  });
  return { tracks, counters, height: Math.max(160, y) };
}

function timelineView(state) {
  const views = DATA.timelines, view = views[Number(state.view) || 0] || views[0];
  const starts = sliceStarts(view), { tracks, counters, height } = timelineLayout(view);
  let from = view.start, to = view.end, selected = state.slice === undefined || state.slice === null ? -1 : Number(state.slice), drag = null;
  if (!(selected < starts.length)) selected = -1;
  if (state.from && state.to && Number(state.to) > Number(state.from)) [from, to] = [Number(state.from) + view.start, Number(state.to) + view.start];
  const status = element("div", { class: "status" }), found = element("span", { class: "count" });
  let isFound = null;  // by number of a name; null: nothing is looked for
  const matchesSlice = (k) => isFound !== null && isFound[view.names[k]] === 1;

  const drawing = canvas(height, "Timeline of " + view.title, (context, width) => {
    const x = (time) => GUTTER + ((time - from) * (width - GUTTER)) / (to - from);
    const ink = Object.fromEntries(["soft", "line", "faint", "accent", "page", "ink", "d0", "d1", "d2", "d3", "p3"].map((name) => [name, color(name)]));
    context.textBaseline = "middle";
    drawTicks(context, width, x, ink);
    for (const track of tracks) drawTrack(context, width, x, ink, track);
    for (const counter of counters) drawCounter(context, width, x, ink, counter);
    drawArrows(context, x, ink);
  });
  let isScheduled = false;
  const redraw = () => {
    if (isScheduled) return;
    isScheduled = true;
    requestAnimationFrame(() => {
      isScheduled = false;
      drawing.redraw();
    });
  };

  function drawTicks(context, width, x, ink) {
    const span = to - from, rough = span / 8, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
    context.textAlign = "center";
    for (let time = Math.ceil((from - view.start) / step) * step; time <= to - view.start; time += step) {
      const at = x(time + view.start);
      if (at <= GUTTER + 16) continue;
      context.fillStyle = ink.line;
      context.fillRect(Math.round(at), HEAD - 6, 1, height);
      context.fillStyle = ink.faint;
      context.fillText(timeText(time), at, 7);
    }
  }

  function drawLabel(context, width, ink, name, y) {
    context.fillStyle = ink.soft;
    context.textAlign = "left";
    context.fillText(fitted(context, name, GUTTER - 8), 0, y + SLICE_ROW / 2);
    context.fillStyle = ink.line;
    context.fillRect(0, y - 7, width, 1);
  }

  function drawTrack(context, width, x, ink, track) {
    drawLabel(context, width, ink, track.name, track.y);
    const ofKind = { 8: ink.d0, 9: ink.d1, 10: ink.d1, 11: ink.d3, 12: ink.d2 };
    const last = new Float64Array(track.rows).fill(-1), unit = (width - GUTTER) / (to - from);
    for (let k = track.first; k < track.first + track.count; ++k) {
      const begin = starts[k], end = begin + view.durations[k];
      if (end < from) continue;
      if (begin > to) break;
      const row = Math.min(view.depths[k], track.rows - 1), left = Math.max(GUTTER, GUTTER + (begin - from) * unit), right = Math.min(width, GUTTER + (end - from) * unit);
      const isMatch = matchesSlice(k);
      // Slices that fall onto one pixel are drawn once.
      if (right - last[row] < 0.35 && k !== selected && !isMatch) continue;
      last[row] = right;
      const top = track.y + row * SLICE_ROW, name = DATA.names[view.names[k]], kindColor = ofKind[view.kinds[k]];
      context.globalAlpha = isFound === null || isMatch || k === selected ? 1 : 0.2;
      context.fillStyle = k === selected ? ink.accent : isMatch ? ink.p3 : kindColor || nameColor(name);
      context.fillRect(left, top, Math.max(0.6, right - left - 0.5), SLICE_ROW - 2);
      const label = right - left > 18 ? fitted(context, name, right - left - 6) : "";
      if (label) {
        context.fillStyle = k === selected ? ink.page : kindColor && !isMatch ? "#fff" : ink.ink;
        context.fillText(label, left + 4, top + SLICE_ROW / 2 - 1);
      }
    }
    context.globalAlpha = 1;
  }

  function drawCounter(context, width, x, ink, counter) {
    drawLabel(context, width, ink, counter.name, counter.y);
    context.fillStyle = ink.faint;
    context.fillText("most " + counter.text(counter.most), 0, counter.y + SLICE_ROW * 1.6);
    const bottom = counter.y + COUNTER_ROW, y = (value) => bottom - (COUNTER_ROW * Math.max(0, value)) / counter.most;
    context.save();
    context.beginPath();
    context.rect(GUTTER, counter.y - 1, width - GUTTER, COUNTER_ROW + 2);
    context.clip();
    context.beginPath();
    context.moveTo(x(counter.times[0]), bottom);
    counter.times.forEach((time, k) => {
      context.lineTo(x(time), y(k > 0 ? counter.values[k - 1] : 0));
      context.lineTo(x(time), y(counter.values[k]));
    });
    context.lineTo(x(view.end), y(counter.values[counter.values.length - 1]));
    context.lineTo(x(view.end), bottom);
    context.fillStyle = ink.accent;
    context.globalAlpha = 0.35;
    context.fill();
    context.restore();
  }

  function drawArrows(context, x, ink) {
    if (selected < 0) return;
    const pairs = [];
    if (view.links[selected] >= 0) pairs.push([view.links[selected], selected]);
    for (let k = 0; k < view.links.length && pairs.length < 200; ++k) if (view.links[k] === selected) pairs.push([selected, k]);
    context.strokeStyle = ink.accent;
    context.lineWidth = 1.2;
    for (const [host, device] of pairs) {
      const [a, b] = [x(starts[host]), x(starts[device])], [top, bottom] = [middleOf(host), middleOf(device)];
      context.beginPath();
      context.moveTo(a, top);
      context.bezierCurveTo(a + 30, bottom, b - 30, top, b, bottom);
      context.stroke();
    }
  }

  const trackOf = (k) => tracks.find((track) => k >= track.first && k < track.first + track.count);
  const middleOf = (k) => trackOf(k).y + Math.min(view.depths[k], trackOf(k).rows - 1) * SLICE_ROW + SLICE_ROW / 2;

  function place(event) {
    const frame = drawing.getBoundingClientRect(), px = event.clientX - frame.left, py = event.clientY - frame.top, unit = (frame.width - GUTTER) / (to - from);
    return { px, py, unit, time: from + (px - GUTTER) / unit };
  }

  function sliceAt({ px, py, unit, time }) {
    const track = tracks.find((other) => py >= other.y && py < other.y + other.rows * SLICE_ROW);
    if (!track || px < GUTTER) return -1;
    const row = Math.floor((py - track.y) / SLICE_ROW);
    let best = -1;
    for (let k = track.first; k < track.first + track.count && starts[k] <= time + 1 / unit; ++k) {
      if (Math.min(view.depths[k], track.rows - 1) === row && starts[k] + view.durations[k] >= time - 1 / unit) best = k;
    }
    return best;
  }

  function tipAt(at) {
    const k = sliceAt(at);
    if (k >= 0) return DATA.names[view.names[k]] + "\n" + timeText(view.durations[k]);
    const counter = counters.find((other) => at.py >= other.y && at.py < other.y + COUNTER_ROW);
    if (!counter || at.px < GUTTER) return "";
    let before = -1;
    while (before + 1 < counter.times.length && counter.times[before + 1] <= at.time) ++before;
    return before < 0 ? "" : counter.name + "\n" + counter.text(counter.values[before]);
  }

  function say() {
    if (selected < 0) {
      status.replaceChildren("Click a slice for its times and for what it launched. Wheel or w and s zoom, drag or a and d move, 0 shows all.");
      return;
    }
    const name = DATA.names[view.names[selected]], launched = view.links.reduce((sum, host) => sum + (host === selected ? 1 : 0), 0);
    const table = ["ops", "kernels"].find((other) => rowNamed(other, name) >= 0);
    status.replaceChildren(
      element("b", {}, name),
      " \u2014 " + timeText(view.durations[selected]) + ", from " + timeText(starts[selected] - view.start) + " on",
      launched ? ", launched " + launched + " on the device" : "",
      view.links[selected] >= 0 ? ", launched by " + DATA.names[view.names[view.links[selected]]] : "",
      table ? element("span", {}, " \u00b7 ", element("a", { href: address(table, { row: rowNamed(table, name) }) }, "all calls")) : "",
    );
  }

  // Browsers refuse hundreds of changes of the address in a few seconds.
  let kept = 0, later = null;
  function keepAddress() {
    clearTimeout(later);
    const keep = () => {
      kept = performance.now();
      if (drawing.isConnected) replaceState("timeline", { ...state, from: from === view.start && to === view.end ? null : Math.round(from - view.start), to: from === view.start && to === view.end ? null : Math.round(to - view.start), slice: selected >= 0 ? selected : null });
    };
    if (performance.now() - kept > 300) keep();
    else later = setTimeout(keep, 300);
  }

  function move(newFrom, newTo) {
    const span = Math.max(50, Math.min(newTo - newFrom, (view.end - view.start) * 1.2));
    const middle = Math.max(view.start, Math.min(view.end, (newFrom + newTo) / 2));
    from = middle - span / 2;
    to = middle + span / 2;
    redraw();
    keepAddress();
  }
  const zoomAt = (time, factor) => move(time - (time - from) * factor, time + (to - time) * factor);

  function select(k) {
    selected = k;
    say();
    redraw();
    keepAddress();
  }

  function look(query) {
    state = { ...state, q: query };
    const matches = matcher(query);
    isFound = query ? Uint8Array.from(DATA.names, (name) => (matches(name) ? 1 : 0)) : null;
    let count = 0;
    for (let k = 0; k < starts.length && isFound; ++k) count += isFound[view.names[k]];
    found.textContent = query ? countText(count) + (count === 1 ? " slice" : " slices") : "";
  }

  // Shows the next slice that matches, in order of time.
  function next() {
    const now = selected >= 0 ? starts[selected] : -Infinity;
    let best = -1, first = -1;
    for (let k = 0; k < starts.length; ++k) {
      if (!matchesSlice(k)) continue;
      if (first < 0 || starts[k] < starts[first]) first = k;
      const isAfter = starts[k] > now || (starts[k] === now && k > selected);
      if (isAfter && (best < 0 || starts[k] < starts[best])) best = k;
    }
    const k = best >= 0 ? best : first;
    if (k < 0) return;
    const middle = starts[k] + view.durations[k] / 2, span = Math.max(view.durations[k] * 8, Math.min(to - from, (view.end - view.start) / 10));
    select(k);
    move(middle - span / 2, middle + span / 2);
  }

  drawing.classList.add("timeline");
  drawing.addEventListener("wheel", (event) => {
    event.preventDefault();
    const shift = (event.deltaY / 600) * (to - from);
    if (event.shiftKey) move(from + shift, to + shift);
    else zoomAt(place(event).time, Math.exp(event.deltaY / 500));
  }, { passive: false });
  drawing.addEventListener("pointerdown", (event) => {
    drag = { x: event.clientX, from, to, moved: false };
    drawing.setPointerCapture(event.pointerId);
  });
  drawing.addEventListener("pointermove", (event) => {
    if (!drag) return showTip(event, tipAt(place(event)));
    const shift = ((drag.x - event.clientX) / (drawing.clientWidth - GUTTER)) * (drag.to - drag.from);
    drag.moved = drag.moved || Math.abs(drag.x - event.clientX) > 3;
    if (drag.moved) move(drag.from + shift, drag.to + shift);
  });
  drawing.addEventListener("pointerup", (event) => {
    if (drag && !drag.moved) select(sliceAt(place(event)));
    drag = null;
  });
  drawing.addEventListener("pointerleave", hideTip);
  drawing.addEventListener("keydown", (event) => {
    const span = to - from, middle = (from + to) / 2;
    const actions = { w: () => zoomAt(middle, 0.7), s: () => zoomAt(middle, 1.4), a: () => move(from - span / 5, to - span / 5), d: () => move(from + span / 5, to + span / 5), 0: () => move(view.start, view.end), n: next };
    actions.ArrowLeft = actions.a;
    actions.ArrowRight = actions.d;
    if (!actions[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    actions[event.key]();
  });
  if (state.q) look(state.q);
  say();
  const choice = element("select", { "aria-label": "Step", onchange: (event) => go("timeline", { view: event.target.value, q: state.q }) }, views.map((other, k) => element("option", { value: k, selected: other === view }, other.title + " (" + timeText(other.end - other.start) + ")")));
  const filter = element("input", {
    type: "search",
    placeholder: "Find slices: words, or /regular expression/",
    "aria-label": "Find slices",
    value: state.q || "",
    oninput: (event) => {
      look(event.target.value);
      redraw();
      keepAddress();
    },
    onkeydown: (event) => event.key === "Enter" && next(),
  });
  const all = element("button", { onclick: () => move(view.start, view.end) }, "Show all");
  const left = view.leftOut ? " The " + countText(view.leftOut) + " shortest slices are left out; mtprof export writes traces with all of them." : "";
  return card(
    "Timeline",
    "What each thread and each stream of a device did." + left,
    element("div", { class: "tools" }, choice, filter, element("button", { title: "Next match (n, or Enter in the field)", onclick: next }, "Next"), all, found),
    drawing,
    status,
  );
}
