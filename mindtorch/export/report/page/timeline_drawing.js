// What the timeline draws: a scene holds the slices of a step, their places, and what of them is shown. Drawn by hand on a canvas: a hundred
// thousand slices are a hundred thousand elements for a library that draws with elements.

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
  const counters = view.counters.map(([name, unit, device, times, values]) => {
    const text = unit === "bytes" ? bytesText : unit === "count" ? countText : (value) => countText(value) + " " + unit;
    const counter = { name: name + ", " + device, times, values, most: Math.max(1, ...values), text, y };
    y += COUNTER_ROW + 14;
    return counter;
  });
  return { tracks, counters, height: Math.max(160, y) };
}

// The part from `from` to `to` is shown. `isFound` tells by the number of a name what the filter finds; it is null if nothing is looked for.
function timelineScene(view) {
  return { view, starts: sliceStarts(view), ...timelineLayout(view), from: view.start, to: view.end, selected: -1, isFound: null, drawn: 0 };
}

const sliceIsFound = (scene, k) => scene.isFound !== null && scene.isFound[scene.view.names[k]] === 1;
const trackOfSlice = (scene, k) => scene.tracks.find((track) => k >= track.first && k < track.first + track.count);

function middleOfSlice(scene, k) {
  const track = trackOfSlice(scene, k);
  return track.y + Math.min(scene.view.depths[k], track.rows - 1) * SLICE_ROW + SLICE_ROW / 2;
}

function drawScene(scene, context, width) {
  const x = (time) => GUTTER + ((time - scene.from) * (width - GUTTER)) / (scene.to - scene.from);
  const ink = Object.fromEntries(["soft", "line", "faint", "accent", "page", "ink", "d0", "d1", "d2", "d3", "p3"].map((name) => [name, color(name)]));
  context.textBaseline = "middle";
  scene.drawn = 0;
  drawTicks(scene, context, width, x, ink);
  for (const track of scene.tracks) drawTrack(scene, context, width, ink, track);
  for (const counter of scene.counters) drawCounter(scene, context, width, x, ink, counter);
  drawArrows(scene, context, x, ink);
}

function drawTicks(scene, context, width, x, ink) {
  const { view, from, to } = scene, rough = (to - from) / 8, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
  context.textAlign = "center";
  for (let time = Math.ceil((from - view.start) / step) * step; time <= to - view.start; time += step) {
    const at = x(time + view.start);
    if (at <= GUTTER + 16) continue;
    context.fillStyle = ink.line;
    context.fillRect(Math.round(at), HEAD - 6, 1, scene.height);
    context.fillStyle = ink.faint;
    const text = timeText(time);
    context.fillText(text, Math.min(at, width - context.measureText(text).width / 2), 7);
  }
}

function drawLabel(context, width, ink, name, y) {
  context.fillStyle = ink.soft;
  context.textAlign = "left";
  context.fillText(fitted(context, name, GUTTER - 8), 0, y + SLICE_ROW / 2);
  context.fillStyle = ink.line;
  context.fillRect(0, y - 7, width, 1);
}

// Slices that fall onto the same half of a pixel are drawn once, so that a frame takes as long for a million slices as for a thousand.
function drawTrack(scene, context, width, ink, track) {
  drawLabel(context, width, ink, track.name, track.y);
  const { view, starts, from, to, selected, isFound } = scene, unit = (width - GUTTER) / (to - from);
  const ends = { true: new Float64Array(track.rows).fill(-1), false: new Float64Array(track.rows).fill(-1) };  // of what is drawn, by isMatch
  for (let k = track.first; k < track.first + track.count; ++k) {
    const begin = starts[k], end = begin + view.durations[k];
    if (end < from) continue;
    if (begin > to) break;
    const left = Math.max(GUTTER, GUTTER + (begin - from) * unit), right = Math.min(width, GUTTER + (end - from) * unit);
    const row = Math.min(view.depths[k], track.rows - 1), isMatch = sliceIsFound(scene, k);
    if (right - ends[isMatch][row] < 0.5 && k !== selected) continue;
    ends[isMatch][row] = right;
    ++scene.drawn;
    context.globalAlpha = isFound === null || isMatch || k === selected ? 1 : 0.2;
    drawSlice(scene, context, ink, k, { left, right, top: track.y + row * SLICE_ROW });
  }
  context.globalAlpha = 1;
}

function drawSlice(scene, context, ink, k, { left, right, top }) {
  const { view, selected } = scene, name = DATA.names[view.names[k]], isMatch = sliceIsFound(scene, k);
  const kindColor = { 8: ink.d0, 9: ink.d1, 10: ink.d1, 11: ink.d3, 12: ink.d2 }[view.kinds[k]];
  context.fillStyle = k === selected ? ink.accent : isMatch ? ink.p3 : kindColor || nameColor(name);
  context.fillRect(left, top, Math.max(0.6, right - left - 0.5), SLICE_ROW - 2);
  const label = right - left > 18 ? fitted(context, name, right - left - 6) : "";
  if (!label) return;
  context.fillStyle = k === selected ? ink.page : kindColor && !isMatch ? "#fff" : ink.ink;
  context.fillText(label, left + 4, top + SLICE_ROW / 2 - 1);
}

function drawCounter(scene, context, width, x, ink, counter) {
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
  context.lineTo(x(scene.view.end), y(counter.values[counter.values.length - 1]));
  context.lineTo(x(scene.view.end), bottom);
  context.fillStyle = ink.accent;
  context.globalAlpha = 0.35;
  context.fill();
  context.restore();
}

function drawArrows(scene, context, x, ink) {
  const { view, starts, selected } = scene;
  if (selected < 0) return;
  const pairs = [];
  if (view.links[selected] >= 0) pairs.push([view.links[selected], selected]);
  for (let k = 0; k < view.links.length && pairs.length < 200; ++k) if (view.links[k] === selected) pairs.push([selected, k]);
  context.strokeStyle = ink.accent;
  context.lineWidth = 1.2;
  for (const [host, device] of pairs) {
    const [a, b] = [x(starts[host]), x(starts[device])], [top, bottom] = [middleOfSlice(scene, host), middleOfSlice(scene, device)];
    context.beginPath();
    context.moveTo(a, top);
    context.bezierCurveTo(a + 30, bottom, b - 30, top, b, bottom);
    context.stroke();
  }
}
