// SPDX-License-Identifier: Apache-2.0
// A table of workloads: sortable, filterable, with sparklines. Rows are kept from sample to sample; their order does not change
// while one of them has the focus, so that it does not move away from the user.

import { claim, element, setText, shape } from "./dom.js";
import { duration, energy, error, percent, power } from "./format.js";
import { say, translate as _ } from "./i18n.js";
import { COLUMNS } from "./kinds.js";
import { sparkPath } from "./scale.js";
import { filtered, sorted } from "./sums.js";
import { printable } from "./text.js";

const PAGE = 50; // rows that are shown at first, and added by each click
const SPARK = { width: 80, height: 22 };

const CELLS = {
  power: row => power(row.powerMicrowatts),
  energy: row => energy(row.energyMicrojoules),
  error,
  cpu: row => duration(row.cpuUsec),
};

export class WorkloadTable {
  #body = element("tbody");
  #lines = new Map();
  #heads = {};
  #sort = { key: "power", descending: true };
  #filter = "";
  #most = PAGE;
  #input;

  /** open(row) is called when a row is chosen; nameOf(row) returns what it is called. */
  constructor(place, { open, nameOf }) {
    this.open = open;
    this.nameOf = nameOf;
    this.head = element("tr");
    this.caption = element("caption", { class: "unseen" });
    this.table = element("table", { class: "workloads" }, this.caption, element("thead", {}, this.head), this.#body);
    this.count = element("p", { class: "quiet", role: "status" });
    this.more = element("button", { type: "button", class: "secondary", click: () => this.#showMore() });
    place.replaceChildren(element("div", { class: "scroll" }, this.table), this.count, this.more);
  }

  /** Begins with another kind: its columns, and no rows. */
  show(kind, columns, label) {
    this.columns = columns;
    this.#lines.clear();
    this.#body.replaceChildren();
    this.#most = PAGE;
    this.#input = undefined;
    setText(this.count, "");
    this.more.hidden = true;
    if (!columns.includes(this.#sort.key)) this.#sort = { key: "power", descending: true };
    setText(this.caption, label);
    this.#heads = {};
    this.head.replaceChildren(...columns.flatMap(key => {
      const head = element("th", { scope: "col", class: key === "name" ? "name" : `number ${key}` },
        element("button", { type: "button", class: "sort", title: COLUMNS[key].hint, click: () => this.#sortBy(key) },
          COLUMNS[key].label));
      this.#heads[key] = head;
      return key === "power" ? [head, element("th", { scope: "col", class: "spark" }, _("Trend"))] : [head];
    }));
    this.#showSort();
  }

  set filter(text) {
    this.#filter = text;
    this.#most = PAGE;
    this.#draw(true);
  }

  /** The rows of a sample; the host's energy, of which they are shares; the series of each row. */
  update({ rows, whole, series, none }) {
    this.#input = { rows, whole, series, none };
    this.#draw(false);
  }

  #sortBy(key) {
    const descending = this.#sort.key === key ? !this.#sort.descending : key !== "name";
    this.#sort = { key, descending };
    this.#showSort();
    this.#draw(true);
  }

  #showSort() {
    for (const [key, head] of Object.entries(this.#heads)) {
      head.setAttribute("aria-sort", key !== this.#sort.key ? "none" : this.#sort.descending ? "descending" : "ascending");
    }
  }

  #showMore() {
    this.#most += PAGE;
    this.#draw(true);
  }

  #draw(mayMove) {
    if (!this.#input) return;
    const { rows, none } = this.#input;
    const running = rows.filter(row => row.state !== "terminated");
    const matching = filtered(running.map(row => ({ ...row, name: this.nameOf(row) })), this.#filter);
    const shown = sorted(matching, this.#sort.key, this.#sort.descending).slice(0, this.#most);
    const ids = new Set(shown.map(row => row.id));
    for (const [id, line] of this.#lines) {
      if (ids.has(id)) continue;
      line.row.remove();
      this.#lines.delete(id);
    }
    for (const row of shown) this.#fill(row);
    const focused = this.#body.contains(document.activeElement) && document.activeElement !== document.body;
    if (mayMove || !focused) this.#order(shown);
    setText(this.count, matching.length === 0 ? (this.#filter ? say("Nothing matches the filter.") : none)
      : say("$0 of $1", shown.length, running.length));
    this.more.hidden = shown.length === matching.length;
    setText(this.more, say("Show more"));
    this.table.classList.toggle("no-errors", !rows.some(row => row.errorMicrojoules !== undefined));
    this.table.hidden = matching.length === 0;
  }

  #order(shown) {
    shown.forEach((row, index) => {
      const line = this.#lines.get(row.id).row, there = this.#body.children[index];
      if (there !== line) this.#body.insertBefore(line, there ?? null);
    });
  }

  #fill(row) {
    const line = this.#lines.get(row.id) ?? this.#newLine(row.id);
    line.latest = row;
    const name = printable(row.name) || "–";
    setText(line.name, name);
    if (line.title.title !== printable(row.title || row.id, 1000)) line.title.title = printable(row.title || row.id, 1000);
    for (const [key, cell] of Object.entries(line.cells)) setText(cell, CELLS[key](row));
    if (line.cells.energy) {
      line.cells.energy.title = say("$0 of the host", percent(row.energyMicrojoules, this.#input.whole));
    }
    line.spark.setAttribute("d", sparkPath(this.#input.series.get(row.id)?.values ?? [], SPARK.width, SPARK.height));
  }

  #newLine(id) {
    const line = { cells: {}, name: claim(""), spark: shape("path") };
    line.title = element("button", { type: "button", class: "link", click: () => this.open(line.latest) }, line.name);
    const row = element("tr", {}, element("th", { scope: "row", class: "name" }, line.title));
    for (const key of this.columns.slice(1)) {
      line.cells[key] = element("td", { class: `number ${key}` });
      row.append(line.cells[key]);
      if (key !== "power") continue;
      row.append(element("td", { class: "spark" },
        shape("svg", { viewBox: `0 0 ${SPARK.width} ${SPARK.height}`, "aria-hidden": "true" }, line.spark)));
    }
    line.row = row;
    this.#lines.set(id, line);
    this.#body.append(row);
    return line;
  }
}
