# SPDX-License-Identifier: Apache-2.0
"""What must hold for the page in whatever state it is: each function returns what is wrong."""
import json

# Roles of what a user can operate, as Chromium names them.
CONTROLS = {"button", "link", "textbox", "searchbox", "combobox", "MenuListPopup", "tab", "checkbox", "radio", "switch", "slider",
            "DisclosureTriangle", "option", "menuitem"}
NAMED = CONTROLS - {"MenuListPopup"} | {"image", "img", "table", "tablist", "tabpanel", "region", "heading"}
# What may have the focus without being a control: the page itself, and what can be scrolled.
ALSO_FOCUSABLE = {"RootWebArea", "generic", "Iframe", "list"}


def value(node, field):
    return node.get(field, {}).get("value")


def accessibility(page):
    """Every control has a role and a name; so do graphs, tables and headings."""
    wrong, roles = [], set()
    for node in page.accessibility():
        role, name = value(node, "role"), value(node, "name")
        focusable = any(p["name"] == "focusable" and value(p, "value") for p in node.get("properties", []))
        roles.add(role)
        if focusable and role not in CONTROLS | ALSO_FOCUSABLE:
            wrong.append(f"focusable, but of role {role}: {name!r}")
        if role in NAMED and not name:
            wrong.append(f"{role} without a name")
    controls = page.js("""[...document.querySelectorAll("button, select, input, summary, a[href]")]
        .filter(control => control.checkVisibility()).length""")
    found = sum(value(node, "role") in CONTROLS - {"option", "MenuListPopup"} for node in page.accessibility())
    if found < controls:
        wrong.append(f"{controls} controls are visible, {found} accessible")
    if not {"button", "tab", "searchbox", "table"} & roles:
        wrong.append(f"no controls: {roles}")
    return wrong


CONTRAST = """(() => {
  const context = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  function rgba(color) {
    context.clearRect(0, 0, 1, 1); context.fillStyle = "#000"; context.fillStyle = color; context.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = context.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  }
  const over = (top, below) => [0, 1, 2].map(i => top[i] * top[3] + below[i] * (1 - top[3]));
  function behind(element) {
    const layers = [];
    for (let e = element; e; e = e.parentElement) layers.push(rgba(getComputedStyle(e).backgroundColor));
    return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255]);
  }
  function luminance(color) {
    const [r, g, b] = color.map(c => c / 255).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  }
  function ratio(a, b) {
    const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x);
    return (high + 0.05) / (low + 0.05);
  }
  const found = [];
  let count = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.textContent.trim() || !element.checkVisibility() || element.closest("option, .unseen, :disabled")) continue;
    const style = getComputedStyle(element), size = parseFloat(style.fontSize);
    const color = rgba(element instanceof SVGElement ? style.fill : style.color), below = behind(element);
    let opacity = 1;
    for (let e = element; e; e = e.parentElement) opacity *= parseFloat(getComputedStyle(e).opacity);
    color[3] *= opacity;
    const is = ratio(over(color, below), below), least = size >= 24 || (size >= 18.66 && style.fontWeight >= 700) ? 3 : 4.5;
    ++count;
    if (is < least) found.push(`${is.toFixed(2)} of ${least}: ${node.textContent.trim().slice(0, 40)}`);
  }
  const drawn = [...document.querySelectorAll(".account, .swatch")].map(e => [e, getComputedStyle(e).backgroundColor, e.parentElement])
    .concat([...document.querySelectorAll(".whole-line, td.spark path")].map(e => [e, getComputedStyle(e).stroke, e.closest("div")]))
    .concat([...document.querySelectorAll("input, select, button.secondary")].map(e => [e, getComputedStyle(e).borderTopColor, e.parentElement]));
  for (const [element, color, parent] of drawn) {
    if (!element.checkVisibility()) continue;
    const below = behind(parent), is = ratio(over(rgba(color), below), below);
    ++count;
    if (is < 3) found.push(`${is.toFixed(2)} of 3: ${element.getAttribute("class") || element.id}`);
  }
  return [count, found];
})()"""


def contrast(page):
    """The contrast of each text, of what is drawn, and of the borders of controls (WCAG 2.2, AA)."""
    count, found = page.js(CONTRAST)
    return found if count > 20 else [f"only {count} texts"]


OUTSIDE = """(() => {
  const found = [], width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > width) found.push(`the page is ${document.documentElement.scrollWidth} wide`);
  for (const element of document.querySelectorAll("body *")) {
    if (!element.checkVisibility() || element.closest(".scroll, .tabs, .unseen, svg, option")) continue;
    const box = element.getBoundingClientRect();
    if (box.width > 0 && (box.right > width + 1 || box.left < -1)) found.push(`${element.tagName} ${element.id} ${element.className}: ${box.left} to ${box.right}`);
  }
  return found.slice(0, 10);
})()"""


def outside(page):
    """What does not fit into the width of the page."""
    return page.js(OUTSIDE)


def sums(page):
    """The accounts add up to the host, in the numbers that are shown."""
    rows = page.js("""[...document.querySelectorAll("#accounts tbody tr")].map(row => [...row.cells].map(cell => cell.innerText))""")
    wrong = []
    for column in (1, 3):
        numbers = [round(float(row[column].split()[0].replace(",", "")) * 1000) for row in rows]
        if len(numbers) != 5 or sum(numbers[:-1]) != numbers[-1]:
            wrong.append(f"column {column}: {numbers}")
    return wrong


def names(page):
    """The names in the table of workloads."""
    return page.js("""[...document.querySelectorAll("#workloads tbody th")].map(cell => cell.innerText)""")


def sort_of(page):
    """The column that the table is sorted by, and how."""
    return page.js("""[...document.querySelectorAll("#workloads thead th[aria-sort]")].filter(head => head.ariaSort !== "none")
        .map(head => [head.innerText.trim(), head.ariaSort])""")


def click_header(page, text):
    page.js(f"""[...document.querySelectorAll("#workloads thead button")].find(b => b.innerText === {json.dumps(text)}).click()""")


def power_changes(page):
    """Returns once the power of the host that is shown has changed."""
    shown = page.text("#power-now")
    page.wait_for(f"""document.querySelector("#power-now").innerText !== {json.dumps(shown)} &&
                      document.querySelector("#absent").hidden""", "another power")
