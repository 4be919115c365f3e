// The map of own times by rank and step, and bars of ranks.

const rangeText = ([first, last]) => (first === last ? String(first) : first + "\u2013" + last);

// A colour between the card and the warning colour: 0 is the median of all steps, 1 is twice of it or more.
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
  const usual = median(micros.filter((value) => value >= 0)) || 1;
  const rowHeight = () => Math.max(1, Math.min(22, Math.floor(420 / ranks.length)));
  const value = (row, column) => micros[row * steps.length + column];
  const made = canvas(() => top + bottom + ranks.length * rowHeight(), "Own time by rank and step", (context, width) => {
    const colors = heatColors(), tall = rowHeight(), wide = (width - left) / steps.length, gap = wide > 5 && tall > 5 ? 1 : 0;
    for (let row = 0; row < ranks.length; ++row) {
      for (let column = 0; column < steps.length; ++column) {
        const time = value(row, column);
        if (time < 0) continue;
        context.fillStyle = colors[Math.max(0, Math.min(20, Math.round(20 * (time / usual - 1))))];
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
  return made;
}
