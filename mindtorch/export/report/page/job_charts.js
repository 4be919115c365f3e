// The map of own times by rank and step, and bars of ranks.

const rangeText = ([first, last]) => (first === last ? String(first) : first + "\u2013" + last);

// Colours between the card and the warning colour, from the coolest to the warmest.
function heatColors() {
  const mix = (share) => "color-mix(in srgb, var(--warn) " + Math.round(100 * share) + "%, var(--accent-soft))";
  const probe = element("i", { hidden: true });
  document.body.append(probe);
  const colors = Array.from({ length: 21 }, (_, k) => {
    probe.style.color = mix(k / 20);
    return getComputedStyle(probe).color;
  });
  probe.remove();
  return colors;
}

function stepMapChart() {
  const { ranks, steps, micros } = DATA.map, left = 58, top = 6, bottom = 22;  // labels of the first row reach above it
  // A quarter of all times is shorter than what counts as usual: of two ranks one may be slow in every step. The longest hundredth is cut.
  const known = micros.filter((value) => value >= 0).sort((a, b) => a - b), usual = known[known.length >> 2] || 1;
  const warmest = Math.max(1.1 * usual, known[Math.floor(0.99 * (known.length - 1))] || 0);
  const warmth = (time) => Math.max(0, Math.min(20, Math.round((20 * (time - usual)) / (warmest - usual))));
  const rowHeight = () => Math.max(1, Math.min(ranks.length <= 4 ? 36 : 22, Math.floor(420 / ranks.length)));
  const value = (row, column) => micros[row * steps.length + column];
  const made = canvas(() => top + bottom + ranks.length * rowHeight(), "Own time by rank and step", (context, width) => {
    const colors = heatColors(), tall = rowHeight(), wide = (width - left) / steps.length, gap = wide > 5 && tall > 5 ? 1 : 0;
    for (let row = 0; row < ranks.length; ++row) {
      for (let column = 0; column < steps.length; ++column) {
        const time = value(row, column);
        if (time < 0) continue;
        context.fillStyle = colors[warmth(time)];
        context.fillRect(left + column * wide, top + row * tall, Math.max(0.5, wide - gap), tall - gap);
      }
    }
    context.fillStyle = color("faint");
    context.textBaseline = "middle";
    context.textAlign = "right";
    const everyRow = roundStep(Math.max(14 / tall, ranks.length / 30));
    for (let row = 0; row < ranks.length; row += everyRow) context.fillText(rangeText(ranks[row]), left - 8, top + (row + 0.5) * tall);
    context.textAlign = "center";
    const everyColumn = roundStep(steps.length / 12);
    for (let column = 0; column < steps.length; column += everyColumn) context.fillText(steps[column][0], left + (column + 0.5) * wide, top + ranks.length * tall + 13);
  });
  made.addEventListener("mousemove", (event) => {
    const box = made.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left - left) / ((box.width - left) / steps.length)), row = Math.floor((event.clientY - box.top - top) / rowHeight());
    if (column < 0 || column >= steps.length || row < 0 || row >= ranks.length) return hideTip();
    const time = value(row, column), shared = ranks[row][0] !== ranks[row][1] || steps[column][0] !== steps[column][1];
    showTip(event, "Rank " + rangeText(ranks[row]) + ", step " + rangeText(steps[column]) + "\n" + (time < 0 ? "not recorded" : timeText(time * 1000) + (shared ? ", the longest" : "")));
  });
  made.addEventListener("mouseleave", hideTip);
  const scale = canvas(14, "Colours of the map", (context, width) => heatColors().forEach((each, k) => {
    context.fillStyle = each;
    context.fillRect((k * width) / 21, 0, width / 21 + 1, 14);
  }));
  return [made, element("div", { class: "scale" }, element("span", {}, "usual, " + timeText(usual * 1000)), scale, element("span", {}, timeText(warmest * 1000) + " or more"))];
}
