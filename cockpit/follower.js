// SPDX-License-Identifier: Apache-2.0
// Follows keplerd with one stream: the host, and the rows of the kind that is shown. While the page is hidden there is none, so
// that it costs nothing then. A connection that is lost is made again.

import { applyChanges } from "./sums.js";
import { ENERGY, call } from "./varlink.js";

const PAUSES = [500, 1000, 2000, 5000]; // milliseconds between attempts to connect

export class Follower {
  rows; // unset until those of the kind that is followed are known
  #kind;
  #visible = true;
  #stream;
  #timer;
  #attempts = 0;
  #listener;

  /** The listener: sample(reply) after each complete sample, fresh() when all rows are those of a new stream, lost(problem). */
  constructor(listener) {
    this.#listener = listener;
  }

  follow(kind) {
    if (kind === this.#kind) return;
    this.#kind = kind;
    this.rows = undefined;
    this.restart();
  }

  setVisible(visible) {
    if (visible === this.#visible) return;
    this.#visible = visible;
    this.restart();
  }

  /** Now, for example because keplerd was started, or the session has become an administrative one. */
  restart() {
    this.#stream?.close();
    this.#stream = undefined;
    clearTimeout(this.#timer);
    if (this.#visible && this.#kind) this.#connect();
  }

  #connect() {
    let complete = new Map();
    let isFirst = true;
    this.#stream = call(ENERGY, "org.keplerd.Energy.Monitor", { kind: this.#kind }, {
      reply: reply => {
        applyChanges(complete, reply);
        if (reply.partial) return;
        this.#attempts = 0;
        if (isFirst) {
          this.rows = complete;
          isFirst = false;
          this.#listener.fresh(reply);
        }
        complete = this.rows;
        this.#listener.sample(reply);
      },
      done: problem => {
        this.#stream = undefined;
        this.#listener.lost(problem ?? "disconnected");
        const pause = PAUSES[Math.min(this.#attempts++, PAUSES.length - 1)];
        this.#timer = setTimeout(() => this.#connect(), pause);
      },
    });
  }
}
