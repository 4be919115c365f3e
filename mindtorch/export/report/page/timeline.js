// The timeline of one step: threads, streams and counters, zoomed with the wheel or w and s, moved by dragging or with a and d. What it
// draws is in timeline_drawing.js.

function timelineView(state) {
  const views = DATA.timelines, view = views[Number(state.view) || 0] || views[0];
  const scene = timelineScene(view), { starts, tracks, counters } = scene;
  let drag = null;
  if (state.slice !== undefined && state.slice !== null && Number(state.slice) < starts.length) scene.selected = Number(state.slice);
  if (state.from && state.to && Number(state.to) > Number(state.from)) [scene.from, scene.to] = [Number(state.from) + view.start, Number(state.to) + view.start];
  const status = element("div", { class: "status" }), found = element("span", { class: "count" });

  const drawing = canvas(scene.height, "Timeline of " + view.title, (context, width) => {
    drawScene(scene, context, width);
    drawing.dataset.drawn = scene.drawn;  // slices in this frame
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

  function place(event) {
    const frame = drawing.getBoundingClientRect(), px = event.clientX - frame.left, py = event.clientY - frame.top, unit = (frame.width - GUTTER) / (scene.to - scene.from);
    return { px, py, unit, time: scene.from + (px - GUTTER) / unit };
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
    if (scene.selected < 0) {
      status.replaceChildren("Click a slice for its times and for what it launched. Wheel or w and s zoom, drag or a and d move, 0 shows all.");
      return;
    }
    const name = DATA.names[view.names[scene.selected]], launched = view.links.reduce((sum, host) => sum + (host === scene.selected ? 1 : 0), 0);
    const table = ["ops", "kernels"].find((other) => rowNamed(other, name) >= 0);
    status.replaceChildren(
      element("b", {}, name),
      " \u2014 " + timeText(view.durations[scene.selected]) + ", from " + timeText(starts[scene.selected] - view.start) + " on",
      launched ? ", launched " + launched + " on the device" : "",
      view.links[scene.selected] >= 0 ? ", launched by " + DATA.names[view.names[view.links[scene.selected]]] : "",
      table ? element("span", {}, " \u00b7 ", element("a", { href: address(table, { row: rowNamed(table, name) }) }, "all calls")) : "",
    );
  }

  // Browsers refuse hundreds of changes of the address in a few seconds.
  let kept = 0, later = null;
  function keepAddress() {
    clearTimeout(later);
    const keep = () => {
      kept = performance.now();
      const isAll = scene.from === view.start && scene.to === view.end, relative = (time) => (isAll ? null : Math.round(time - view.start));
      if (drawing.isConnected) replaceState("timeline", { ...state, from: relative(scene.from), to: relative(scene.to), slice: scene.selected >= 0 ? scene.selected : null });
    };
    if (performance.now() - kept > 300) keep();
    else later = setTimeout(keep, 300);
  }

  function move(newFrom, newTo) {
    const span = Math.max(50, Math.min(newTo - newFrom, (view.end - view.start) * 1.2));
    const middle = Math.max(view.start, Math.min(view.end, (newFrom + newTo) / 2));
    scene.from = middle - span / 2;
    scene.to = middle + span / 2;
    redraw();
    keepAddress();
  }
  const zoomAt = (time, factor) => move(time - (time - scene.from) * factor, time + (scene.to - time) * factor);

  function select(k) {
    scene.selected = k;
    say();
    redraw();
    keepAddress();
  }

  function look(query) {
    state = { ...state, q: query };
    const matches = matcher(query);
    scene.isFound = query ? Uint8Array.from(DATA.names, (name) => (matches(name) ? 1 : 0)) : null;
    let count = 0;
    for (let k = 0; k < starts.length && scene.isFound; ++k) count += scene.isFound[view.names[k]];
    found.textContent = query ? countText(count) + (count === 1 ? " slice" : " slices") : "";
  }

  // Shows the next slice that matches, in order of time.
  function next() {
    const now = scene.selected >= 0 ? starts[scene.selected] : -Infinity;
    let best = -1, first = -1;
    for (let k = 0; k < starts.length; ++k) {
      if (!sliceIsFound(scene, k)) continue;
      if (first < 0 || starts[k] < starts[first]) first = k;
      const isAfter = starts[k] > now || (starts[k] === now && k > scene.selected);
      if (isAfter && (best < 0 || starts[k] < starts[best])) best = k;
    }
    const k = best >= 0 ? best : first;
    if (k < 0) return;
    const middle = starts[k] + view.durations[k] / 2, span = Math.max(view.durations[k] * 8, Math.min(scene.to - scene.from, (view.end - view.start) / 10));
    select(k);
    move(middle - span / 2, middle + span / 2);
  }

  drawing.classList.add("timeline");
  drawing.addEventListener("wheel", (event) => {
    event.preventDefault();
    const shift = (event.deltaY / 600) * (scene.to - scene.from);
    if (event.shiftKey) move(scene.from + shift, scene.to + shift);
    else zoomAt(place(event).time, Math.exp(event.deltaY / 500));
  }, { passive: false });
  drawing.addEventListener("pointerdown", (event) => {
    drag = { x: event.clientX, from: scene.from, to: scene.to, moved: false };
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
    const span = scene.to - scene.from, middle = (scene.from + scene.to) / 2;
    const actions = { w: () => zoomAt(middle, 0.7), s: () => zoomAt(middle, 1.4), a: () => move(scene.from - span / 5, scene.to - span / 5), d: () => move(scene.from + span / 5, scene.to + span / 5), 0: () => move(view.start, view.end), n: next };
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
