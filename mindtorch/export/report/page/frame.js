// What every page has: the address bar, light and dark, and keys. A page adds VIEWS, parseAddress() and render().

// The address bar holds the view: #ops?sort=calls&q=conv
function address(view, state) {
  const parts = Object.entries(state || {}).filter(([, value]) => value !== null && value !== undefined && value !== "");
  return "#" + view + (parts.length ? "?" + new URLSearchParams(parts).toString() : "");
}
function go(view, state) {
  location.hash = address(view, state);
}
function replaceState(view, state) {
  history.replaceState(null, "", address(view, state));
}

// A large number with a label below it.
function number(value, label) {
  const [, amount, unit] = /^(\S+)\s*(.*)$/.exec(value);
  return element("div", {}, element("div", { class: "value" }, amount, unit ? element("span", { class: "unit" }, unit) : null), element("div", { class: "label" }, label));
}

const detail = document.getElementById("detail");

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  nameColors.clear();
  try {
    localStorage.setItem("mindtorch-theme", theme);
  } catch {
    // A page that was opened from a file may not have a store.
  }
  redrawAll();
}
function firstTheme() {
  let kept = null;
  try {
    kept = localStorage.getItem("mindtorch-theme");
  } catch {
    kept = null;
  }
  return kept || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
}
const otherTheme = () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");

document.getElementById("theme").addEventListener("click", otherTheme);
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") {
    if (!detail.hidden) {
      const [view, state] = parseAddress();
      go(view, { ...state, row: null });
    }
    event.target.blur();
    return;
  }
  if (/INPUT|SELECT|TEXTAREA/.test(event.target.tagName)) return;
  if (event.key === "t") otherTheme();
  if (event.key === "/") {
    const filter = document.querySelector("main input[type=search]");
    if (filter) {
      event.preventDefault();
      filter.focus();
    }
  }
  const tab = VIEWS[Number(event.key) - 1];
  if (tab) go(tab[0], {});
});
window.addEventListener("hashchange", render);
window.addEventListener("resize", redrawAll);
