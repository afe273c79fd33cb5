// Makes elements. Texts of others only ever become text nodes.

export function element(name, attributes, ...children) {
  return fill(document.createElement(name), attributes, children);
}

export function drawing(name, attributes, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(2)) {
    if (child !== null && child !== undefined && child !== false) node.append(child);
  }
  return node;
}

/// Sets a text only when it differs, so that screen readers and the layout are not troubled.
export function setText(node, text) { if (node.textContent !== text) node.textContent = text; }

/// A titled part of a view.
export function panel(title, ...children) {
  return element("section", { class: "panel" }, element("h2", {}, title), ...children);
}

/// A box that scrolls sideways by itself when it is too wide, by keys, too.
export function scroller(name, ...children) {
  return element("div", { class: "panel scroll", tabindex: 0, role: "region", "aria-label": name }, ...children);
}

/// A list of names and values.
export function values(className, pairs) {
  return element("dl", { class: className }, pairs.map(([name, value, kind]) => element(
    "div", { class: kind ? `metric ${kind}` : "metric" }, element("dt", {}, name), element("dd", {}, value))));
}
