// SPDX-License-Identifier: Apache-2.0
// The power of the host, now and over time. The last ten minutes are those that the page has followed.

import { byId, setText } from "./dom.js";
import { power } from "./format.js";
import { LIVE, drawGraph, drawLive, summary } from "./graph.js";
import { PERIODS, pointsOf, reason, spans } from "./history.js";
import { say, translate as _ } from "./i18n.js";
import { Series } from "./sums.js";

const RELOAD = 300000; // milliseconds
const LABELS = { day: _("Power in the last 24 hours"),
                 week: _("Power in the last 7 days"), month: _("Power in the last 30 days") };

export class Overview {
  #live = new Series(1200);
  #recorded = [];
  #loaded = 0;
  #now = 0;

  constructor() {
    byId("period").addEventListener("change", () => this.#choose());
    new ResizeObserver(() => this.draw()).observe(byId("graph"));
  }

  sample(reply) {
    const { host } = reply;
    // Another stream may begin with a sample that was seen already.
    if (reply.realtimeUsec > this.#now) this.#live.add({ time: reply.realtimeUsec, power: host.powerMicrowatts, idle: host.idleMicrowatts });
    this.#now = reply.realtimeUsec;
    setText(byId("power-now"), power(host.powerMicrowatts));
    setText(byId("power-parts"), host.powerMicrowatts === undefined ? _("Power is known after the next sample.")
      : say("$0 active, $1 idle", power(host.activeMicrowatts), power(host.idleMicrowatts)));
    if (this.period !== "live" && Date.now() - this.#loaded > RELOAD) this.#choose();
    this.draw();
  }

  get period() {
    return byId("period").value;
  }

  async #choose() {
    const { period } = this;
    setText(byId("graph-note"), "");
    this.#recorded = [];
    this.#loaded = Date.now();
    this.draw();
    if (period === "live") return;
    try {
      const all = await spans("host", undefined, PERIODS[period]);
      if (period !== this.period) return;
      this.#recorded = pointsOf(all, span => span.energyMicrojoules, span => span.accounts?.idle);
    } catch (failure) {
      if (period === this.period) setText(byId("graph-note"), reason(failure.problem ?? failure.message));
    }
    this.draw();
  }

  draw() {
    const { period } = this;
    const now = this.#now || Date.now() * 1000;
    if (period === "live") {
      drawLive(byId("graph"), this.#live.values, now);
      setText(byId("graph-summary"), summary(this.#live.values.filter(point => point.time >= now - LIVE)));
      return;
    }
    const { length, step } = PERIODS[period];
    const from = now - length, gap = step === "5min" ? 300e6 : 3600e6;
    drawGraph(byId("graph"), { points: this.#recorded, from, to: now, gap, label: LABELS[period] });
    setText(byId("graph-summary"), summary(this.#recorded.filter(point => point.time >= from)));
  }
}
