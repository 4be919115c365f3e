// The timeline of one step: threads and streams, zoomed with the wheel or w and s, moved by dragging or with a and d.

const SLICE_ROW = 17;

function sliceStarts(view) {
  if (!view.absolute) {
    let now = view.start;
    view.absolute = view.starts.map((difference) => (now += difference));
  }
  return view.absolute;
}

function timelineView(state) {
  const views = DATA.timelines, view = views[Number(state.view) || 0] || views[0];
  const starts = sliceStarts(view), gutter = 132, head = 22;
  let from = view.start, to = view.end, selected = state.slice === undefined || state.slice === null ? -1 : Number(state.slice), drag = null;
  if (state.from && state.to && Number(state.to) > Number(state.from)) [from, to] = [Number(state.from) + view.start, Number(state.to) + view.start];
  const tracks = view.tracks.map(([name, isDevice, first, count]) => {
    let depth = 0;
    for (let k = first; k < first + count; ++k) depth = Math.max(depth, view.depths[k]);
    return { name, isDevice, first, count, rows: Math.min(depth + 1, 24) };
  });
  let y = head;
  for (const track of tracks) {
    track.y = y;
    y += track.rows * SLICE_ROW + 14;
  }
  const status = element("div", { class: "status" });
  const kindColor = (k) => (view.kinds[k] >= 8 ? { 9: color("d1"), 10: color("d1"), 12: color("d2"), 11: color("d3") }[view.kinds[k]] || color("d0") : null);

  const drawing = canvas(Math.max(160, y), "Timeline of " + view.title, (context, width, height) => {
    const room = width - gutter, unit = room / (to - from), x = (time) => gutter + (time - from) * unit;
    context.textBaseline = "middle";
    drawTicks(context, width, height, x);
    for (const track of tracks) {
      context.fillStyle = color("soft");
      context.textAlign = "left";
      context.fillText(fitted(context, track.name, gutter - 8), 0, track.y + SLICE_ROW / 2);
      context.fillStyle = color("line");
      context.fillRect(0, track.y - 7, width, 1);
      const last = new Float64Array(track.rows).fill(-1);
      for (let k = track.first; k < track.first + track.count; ++k) {
        const begin = starts[k], end = begin + view.durations[k];
        if (end < from) continue;
        if (begin > to) break;
        const row = Math.min(view.depths[k], track.rows - 1), left = Math.max(gutter, x(begin)), right = Math.min(width, x(end));
        // Slices that fall onto one pixel are drawn once.
        if (right - last[row] < 0.35 && k !== selected) continue;
        last[row] = right;
        const top = track.y + row * SLICE_ROW;
        context.fillStyle = k === selected ? color("accent") : kindColor(k) || nameColor(DATA.names[view.names[k]]);
        context.fillRect(left, top, Math.max(0.6, right - left - 0.5), SLICE_ROW - 2);
        const label = fitted(context, DATA.names[view.names[k]], right - left - 6);
        if (label) {
          context.fillStyle = k === selected ? color("page") : kindColor(k) ? "#fff" : color("ink");
          context.fillText(label, left + 4, top + SLICE_ROW / 2 - 1);
        }
      }
    }
    drawArrows(context, x);
  });

  function drawTicks(context, width, height, x) {
    const span = to - from, rough = span / 8, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
    context.textAlign = "center";
    for (let time = Math.ceil((from - view.start) / step) * step; time <= to - view.start; time += step) {
      context.fillStyle = color("line");
      context.fillRect(Math.round(x(time + view.start)), head - 6, 1, height);
      context.fillStyle = color("faint");
      if (x(time + view.start) > gutter + 16) context.fillText(timeText(time), x(time + view.start), 7);
    }
  }

  function drawArrows(context, x) {
    if (selected < 0) return;
    const pairs = [];
    if (view.links[selected] >= 0) pairs.push([view.links[selected], selected]);
    for (let k = 0; k < view.links.length && pairs.length < 200; ++k) if (view.links[k] === selected) pairs.push([selected, k]);
    context.strokeStyle = color("accent");
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

  function find(event) {
    const frame = drawing.getBoundingClientRect(), px = event.clientX - frame.left, py = event.clientY - frame.top;
    const track = tracks.find((other) => py >= other.y && py < other.y + other.rows * SLICE_ROW);
    if (!track || px < gutter) return -1;
    const row = Math.floor((py - track.y) / SLICE_ROW), unit = (frame.width - gutter) / (to - from), time = from + (px - gutter) / unit;
    let best = -1;
    for (let k = track.first; k < track.first + track.count && starts[k] <= time + 1 / unit; ++k) {
      if (Math.min(view.depths[k], track.rows - 1) === row && starts[k] + view.durations[k] >= time - 1 / unit) best = k;
    }
    return best;
  }

  function say() {
    if (selected < 0 || selected >= starts.length) {
      status.replaceChildren("Click a slice for its times and for what it launched. Wheel or w and s zoom, drag or a and d move, 0 shows all.");
      return;
    }
    const name = DATA.names[view.names[selected]], launched = view.links.reduce((sum, host) => sum + (host === selected ? 1 : 0), 0);
    const row = DATA.ops.rows.findIndex((op) => DATA.names[op[ROW.name]] === name);
    status.replaceChildren(
      element("b", {}, name),
      " \u2014 " + timeText(view.durations[selected]) + ", from " + timeText(starts[selected] - view.start) + " on",
      launched ? ", launched " + launched + " on the device" : "",
      view.links[selected] >= 0 ? ", launched by " + DATA.names[view.names[view.links[selected]]] : "",
      row >= 0 ? element("span", {}, " \u00b7 ", element("a", { href: address("ops", { row }) }, "all calls")) : "",
    );
  }

  function move(newFrom, newTo) {
    const span = Math.max(50, Math.min(newTo - newFrom, (view.end - view.start) * 1.2));
    const middle = Math.max(view.start, Math.min(view.end, (newFrom + newTo) / 2));
    from = middle - span / 2;
    to = middle + span / 2;
    drawing.redraw();
    replaceState("timeline", { ...state, from: Math.round(from - view.start), to: Math.round(to - view.start), slice: selected >= 0 ? selected : null });
  }
  const zoomAt = (time, factor) => move(time - (time - from) * factor, time + (to - time) * factor);

  drawing.classList.add("timeline");
  drawing.addEventListener("wheel", (event) => {
    event.preventDefault();
    const frame = drawing.getBoundingClientRect(), time = from + ((event.clientX - frame.left - gutter) / (frame.width - gutter)) * (to - from);
    if (event.shiftKey) move(from + ((event.deltaY / 600) * (to - from)), to + ((event.deltaY / 600) * (to - from)));
    else zoomAt(time, Math.exp(event.deltaY / 500));
  }, { passive: false });
  drawing.addEventListener("pointerdown", (event) => {
    drag = { x: event.clientX, from, to, moved: false };
    drawing.setPointerCapture(event.pointerId);
  });
  drawing.addEventListener("pointermove", (event) => {
    if (drag) {
      const shift = ((drag.x - event.clientX) / (drawing.clientWidth - gutter)) * (drag.to - drag.from);
      drag.moved = drag.moved || Math.abs(drag.x - event.clientX) > 3;
      if (drag.moved) move(drag.from + shift, drag.to + shift);
      return;
    }
    const k = find(event);
    showTip(event, k < 0 ? "" : DATA.names[view.names[k]] + "\n" + timeText(view.durations[k]));
  });
  drawing.addEventListener("pointerup", (event) => {
    if (drag && !drag.moved) {
      selected = find(event);
      say();
      drawing.redraw();
      replaceState("timeline", { ...state, slice: selected >= 0 ? selected : null });
    }
    drag = null;
  });
  drawing.addEventListener("pointerleave", hideTip);
  drawing.addEventListener("keydown", (event) => {
    const span = to - from, middle = (from + to) / 2;
    const actions = { w: () => zoomAt(middle, 0.7), s: () => zoomAt(middle, 1.4), a: () => move(from - span / 5, to - span / 5), d: () => move(from + span / 5, to + span / 5), 0: () => move(view.start, view.end) };
    actions.ArrowLeft = actions.a;
    actions.ArrowRight = actions.d;
    if (!actions[event.key]) return;
    event.preventDefault();
    event.stopPropagation();
    actions[event.key]();
  });
  say();
  const choice = element("select", { "aria-label": "Step", onchange: (event) => go("timeline", { view: event.target.value }) }, views.map((other, k) => element("option", { value: k, selected: other === view }, other.title + " (" + timeText(other.end - other.start) + ")")));
  const all = element("button", { onclick: () => move(view.start, view.end) }, "Show all");
  const left = view.leftOut ? " The " + countText(view.leftOut) + " shortest slices are left out; mtprof export writes traces with all of them." : "";
  return card("Timeline", "What each thread and each stream of a device did." + left, element("div", { class: "tools" }, choice, all), drawing, status);
}
