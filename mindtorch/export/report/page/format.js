// Data, numbers as text, elements and colours. Names come from programs: they enter the page as text only, never as markup.
"use strict";

const DATA = JSON.parse(document.getElementById("report-data").textContent);

function timeText(ns) {
  const sign = ns < 0 ? "-" : "";
  const value = Math.abs(ns);
  for (const [unit, size] of [["s", 1e9], ["ms", 1e6], ["\u00b5s", 1e3]]) {
    if (value >= size) return sign + digits(value / size) + " " + unit;
  }
  return sign + Math.round(value) + " ns";
}

function digits(value) {
  if (value >= 1000) return Math.round(value).toLocaleString("en");
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

function bytesText(bytes) {
  const sign = bytes < 0 ? "-" : "";
  const value = Math.abs(bytes);
  for (const [unit, size] of [["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10]]) {
    if (value >= size) return sign + digits(value / size) + " " + unit;
  }
  return sign + value + " B";
}

// Bytes on an axis with a mark every `step` bytes: in the largest unit in which three digits after the point tell marks apart.
function bytesMarkText(bytes, step) {
  const [unit, size] = [["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10], ["B", 1]].find(([, size]) => size === 1 || (bytes >= size && step * 1000 >= size));
  const decimals = Math.min(3, Math.max(0, Math.ceil(Math.log10(size / step)) + 1));
  return withoutZeros((bytes / size).toFixed(decimals) + " " + unit);
}

// The smallest of 1, 2, 5, 10, 20, ... that is not below `least`.
function roundStep(least) {
  for (let power = 1; ; power *= 10) {
    const found = [1, 2, 5].find((digit) => digit * power >= least);
    if (found) return found * power;
  }
}

// "1.50 ms" and "2.00 ms" as "1.5 ms" and "2 ms".
const withoutZeros = (text) => text.replace(/(\.\d*?)0+ /, "$1 ").replace(". ", " ");

const countText = (value) => value.toLocaleString("en");
const shareText = (part, whole) => (whole > 0 ? digits((100 * part) / whole) : "0") + " %";

function median(values) {
  if (values.length === 0) return 0;
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1];
}

// A name without what the names of most kernels begin with, so that rows can be told apart. The whole name is in the title of its element.
const shortName = (name) => name.replace(/^void /, "").replace(/\(anonymous namespace\)::/g, "").replace(/\bat::native::/g, "");

// element("p", {class: "sub"}, "text", otherElement)
function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined) made.append(child);
  }
  return made;
}

const card = (title, sub, ...content) =>
  element("section", { class: "card" }, element("h2", {}, title), sub ? element("p", { class: "sub" }, sub) : null, ...content);

const color = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
const phaseColor = (phase) => "var(--p" + phase + ")";

// A canvas that is as sharp as the screen; draw(context, width, height) is called now and when the page changes.
const drawings = new Set();
function canvas(height, label, draw) {
  const made = element("canvas", { role: "img", "aria-label": label, tabindex: "0" });
  made.redraw = () => {
    if (!made.isConnected) return;
    const width = made.clientWidth, ratio = window.devicePixelRatio || 1;
    const tall = typeof height === "function" ? height() : height;
    made.style.height = tall + "px";
    made.width = Math.round(width * ratio);
    made.height = Math.round(tall * ratio);
    const context = made.getContext("2d");
    context.scale(ratio, ratio);
    context.font = "12px " + color("sans");
    draw(context, width, tall);
  };
  drawings.add(made);
  return made;
}

function redrawAll() {
  for (const drawing of drawings) {
    if (drawing.isConnected) drawing.redraw();
    else drawings.delete(drawing);
  }
}

const tip = document.getElementById("tip");
function showTip(event, text) {
  if (!text) return hideTip();
  tip.textContent = text;
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  tip.style.left = Math.max(4, Math.min(event.clientX + 14, window.innerWidth - box.width - 8)) + "px";
  tip.style.top = (event.clientY + box.height + 24 > window.innerHeight ? event.clientY - box.height - 10 : event.clientY + 16) + "px";
}
function hideTip() {
  tip.hidden = true;
}

function fitted(context, text, width) {
  if (width < 18) return "";
  let fits = Math.min(text.length, Math.floor(width / 5));
  const shown = () => (fits === text.length ? text : text.slice(0, fits) + "\u2026");
  while (fits > 1 && context.measureText(shown()).width > width) --fits;
  return fits < 2 && text.length > 1 ? "" : shown();
}

// A colour for a name, always the same one; hues of a narrow, quiet range.
const nameColors = new Map();
function nameColor(text) {
  let made = nameColors.get(text);
  if (!made) {
    let hash = 7;
    for (let k = 0; k < text.length; ++k) hash = (hash * 31 + text.charCodeAt(k)) >>> 0;
    const isDark = document.documentElement.dataset.theme === "dark";
    made = "hsl(" + (190 + (hash % 130)) + " " + ((isDark ? 20 : 32) + (hash % 17)) + "% " + (isDark ? 38 + (hash % 9) : 74 + (hash % 9)) + "%)";
    nameColors.set(text, made);
  }
  return made;
}

function copyText(text, button) {
  const done = () => {
    const label = button.textContent;
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = label), 1200);
  };
  const byHand = () => {
    const area = element("textarea", {}, text);
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
    done();
  };
  if (navigator.clipboard) navigator.clipboard.writeText(text).then(done, byHand);
  else byHand();
}
