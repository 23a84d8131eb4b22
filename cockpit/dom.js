// SPDX-License-Identifier: Apache-2.0
// Elements. Text is always set as text: nothing that comes from the host is parsed as HTML.

const SVG = "http://www.w3.org/2000/svg";

function filled(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter(child => child !== undefined));
  return made;
}

/** An element with attributes (functions are listeners of events) and children, which are elements or text. */
export function element(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

export function shape(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

export const byId = id => document.getElementById(id);

/** Sets the text where it has changed, so that screen readers do not repeat what has not. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** A name that somebody chose: isolated, so that its direction does not affect its surroundings. */
export function claim(text, attributes = {}) {
  return element("bdi", { class: "claim", ...attributes }, text);
}

/** A list of names and values. */
export function facts(pairs) {
  const list = element("dl", { class: "facts" });
  for (const [name, value] of pairs) {
    if (value === undefined || value === "") continue;
    list.append(element("div", {}, element("dt", {}, name), element("dd", {}, value)));
  }
  return list;
}

/** A table of text: headers, rows of cells, and possibly a row with their sum. Cells after the first are numbers. */
export function simpleTable(caption, headers, rows, total) {
  const cell = (content, index) => index === 0 ? element("th", { scope: "row" }, content)
    : element("td", { class: "number" }, content);
  return element("table", { class: "plain" }, element("caption", { class: "unseen" }, caption),
    element("thead", {}, element("tr", {}, ...headers.map((header, index) =>
      element("th", { scope: "col", class: index === 0 ? undefined : "number" }, header)))),
    element("tbody", {}, ...rows.map(row => element("tr", {}, ...row.map(cell))),
      total && element("tr", { class: "total" }, ...total.map(cell))));
}
