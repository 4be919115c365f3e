// The flame graph, as an icicle: callers above what they call. Click a bar to zoom in, the top bar to zoom out.

const FLAME = { name: 0, parent: 1, calls: 2, self: 3, device: 4, memory: 5 };
const FLAME_ROW = 20;
const METRICS = { time: [FLAME.self, timeText, "Host time"], device: [FLAME.device, timeText, "Device time"], memory: [FLAME.memory, bytesText, "Bytes allocated"] };

function flameTree(source, metric) {
  const nodes = source.nodes.map((node, id) => ({ id, name: id === 0 ? "all" : DATA.names[node[FLAME.name]], calls: node[FLAME.calls], self: Math.max(0, node[metric]), total: 0, children: [], parent: null, depth: 0 }));
  for (let id = nodes.length - 1; id >= 0; --id) {
    nodes[id].total += nodes[id].self;
    if (id > 0) {
      const parent = nodes[source.nodes[id][FLAME.parent]];
      parent.total += nodes[id].total;
      parent.children.push(nodes[id]);
      nodes[id].parent = parent;
    }
  }
  for (const node of nodes) {
    node.depth = node.parent ? node.parent.depth + 1 : 0;
    node.children.sort((a, b) => b.total - a.total);
  }
  return nodes;
}

function flameView(state) {
  const sources = DATA.flames, chosen = sources.find((source) => source.title === state.by) || sources[0];
  const usable = Object.keys(METRICS).filter((name) => chosen.nodes.some((node) => node[METRICS[name][0]] > 0));
  const metric = usable.includes(state.metric) ? state.metric : usable[0] || "time";
  const [column, text, metricTitle] = METRICS[metric];
  const nodes = flameTree(chosen, column), matches = state.q ? matcher(state.q) : null;
  const root = nodes[Number(state.node) || 0] || nodes[0];
  let boxes = [], hover = null;

  const depthBelow = (node) => {
    let deepest = 0;
    const visit = (at, depth) => {
      deepest = Math.max(deepest, depth);
      if (depth < 60) for (const child of at.children) if (child.total > node.total / 2000) visit(child, depth + 1);
    };
    visit(node, 0);
    return deepest;
  };
  const rows = root.depth + depthBelow(root) + 1;
  const drawing = canvas(Math.max(160, rows * FLAME_ROW + 4), "Flame graph", (context, width) => {
    boxes = [];
    context.textBaseline = "middle";
    const paint = (node, x, wide, y, isAround) => {
      if (wide < 0.4) return;
      boxes.push({ node, x, wide, y });
      const isDim = matches && !matches(node.name);
      context.globalAlpha = isDim ? 0.3 : isAround ? 0.6 : 1;
      context.fillStyle = node === hover ? color("accent") : matches && !isDim ? color("p3") : node.id === 0 ? color("line") : nameColor(node.name);
      context.fillRect(x, y, Math.max(0.5, wide - 1), FLAME_ROW - 1);
      context.fillStyle = node === hover ? color("page") : color("ink");
      const label = fitted(context, node.name, wide - 8);
      if (label) context.fillText(label, x + 5, y + FLAME_ROW / 2);
      context.globalAlpha = 1;
      if (isAround) return;
      let at = x;
      for (const child of node.children) {
        const share = node.total > 0 ? (child.total / node.total) * wide : 0;
        paint(child, at, share, y + FLAME_ROW, false);
        at += share;
      }
    };
    for (let around = root.parent; around; around = around.parent) paint(around, 0, width, around.depth * FLAME_ROW, true);
    paint(root, 0, width, root.depth * FLAME_ROW, false);
  });
  const find = (event) => {
    const frame = drawing.getBoundingClientRect(), x = event.clientX - frame.left, y = event.clientY - frame.top;
    const box = boxes.find((other) => x >= other.x && x < other.x + other.wide && y >= other.y && y < other.y + FLAME_ROW);
    return box ? box.node : null;
  };
  drawing.addEventListener("mousemove", (event) => {
    const node = find(event);
    if (node !== hover) {
      hover = node;
      drawing.redraw();
    }
    if (!node) return hideTip();
    showTip(event, node.name + "\n" + text(node.total) + ", " + shareText(node.total, nodes[0].total) + " of all\n" + text(node.self) + " itself, " + countText(node.calls) + " calls");
  });
  drawing.addEventListener("mouseleave", () => {
    hover = null;
    hideTip();
    drawing.redraw();
  });
  const zoom = (node) => go("flame", { ...state, node: node && node.id ? node.id : null });
  drawing.addEventListener("click", (event) => {
    hideTip();
    const node = find(event);
    if (node) zoom(node);
  });
  drawing.addEventListener("keydown", (event) => {
    const next = { ArrowUp: root.parent, ArrowDown: root.children[0], Home: nodes[0] }[event.key];
    if (!next) return;
    event.preventDefault();
    zoom(next);
  });
  const pick = (name, values, labels, value) =>
    element("select", { "aria-label": name, onchange: (event) => go("flame", { ...state, node: null, [name]: event.target.value }) }, values.map((item, k) => element("option", { value: item, selected: item === value }, labels[k])));
  return card(
    "Flame graph",
    "Calls merged by path, the callers on top; the width is " + metricTitle.toLowerCase() + ". Click to zoom in, click a bar above to zoom out.",
    element(
      "div",
      { class: "tools" },
      pick("by", sources.map((source) => source.title), sources.map((source) => (source.title === "ops" ? "Modules, scopes and ops" : "Python stacks")), chosen.title),
      pick("metric", usable.length ? usable : ["time"], (usable.length ? usable : ["time"]).map((name) => METRICS[name][2]), metric),
      element("input", { type: "search", placeholder: "Highlight", "aria-label": "Highlight", value: state.q || "", onchange: (event) => go("flame", { ...state, q: event.target.value }) }),
      root.id ? element("button", { onclick: () => zoom(nodes[0]) }, "Zoom out") : null,
    ),
    drawing,
  );
}
