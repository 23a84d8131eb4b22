// SPDX-License-Identifier: Apache-2.0
// Varlink over a channel of Cockpit's bridge, which connects to the socket as the user, or as root in an administrative session.

export const ENERGY = "/run/keplerd/org.keplerd.Energy";
export const HISTORY = "/run/keplerd-history/org.keplerd.History";

const LARGEST = 64 * 1024 * 1024; // bytes; keplerd's own replies are smaller

// The bridge keeps a connection when the page is left: all that are still open are closed then.
const open = new Set();
let isLeft = false;
globalThis.addEventListener?.("pagehide", () => {
  isLeft = true;
  for (const end of [...open]) end("disconnected");
});
globalThis.addEventListener?.("pageshow", () => { isLeft = false; });

/** Puts messages, which end with a NUL, together again. */
export class Messages {
  #pieces = [];
  #size = 0;
  #decoder = new TextDecoder();

  /** The messages that are complete with these bytes. */
  add(bytes) {
    const complete = [];
    let begin = 0;
    for (let end = bytes.indexOf(0); end >= 0; end = bytes.indexOf(0, begin)) {
      this.#keep(bytes.subarray(begin, end));
      complete.push(JSON.parse(this.#take()));
      begin = end + 1;
    }
    this.#keep(bytes.subarray(begin));
    return complete;
  }

  #keep(bytes) {
    this.#size += bytes.length;
    if (this.#size > LARGEST) throw new Error("the reply is too large");
    if (bytes.length > 0) this.#pieces.push(bytes.slice());
  }

  #take() {
    const text = this.#pieces.map(piece => this.#decoder.decode(piece, { stream: true })).join("") + this.#decoder.decode();
    this.#pieces = [];
    this.#size = 0;
    return text;
  }
}

/**
 * Calls a method on a connection of its own. `reply` is called with the parameters of each reply; `done` once at the end, with
 * undefined, or with a problem: Cockpit's ("not-found": no such socket), or the name of varlink's error.
 */
export function call(address, method, parameters, { reply, done }) {
  if (isLeft) {
    done("disconnected");
    return { close: () => {} };
  }
  const channel = cockpit.channel({ payload: "stream", unix: address, binary: true, superuser: "try" });
  const messages = new Messages();
  let ended = false;

  // With a problem, the bridge closes the socket at once; without, it waits for keplerd to close it, which a stream never does.
  const close = () => {
    ended = true;
    open.delete(end);
    channel.close("cancelled");
  };

  function end(problem) {
    if (ended) return;
    close();
    done(problem);
  }

  open.add(end);
  channel.addEventListener("message", (_event, bytes) => {
    if (ended) return;
    try {
      for (const message of messages.add(bytes)) {
        if (message.error) return end(message.error);
        reply(message.parameters ?? {});
        if (!message.continues) return end();
      }
    } catch (failure) {
      console.warn(`${method}: ${failure.message}`);
      end("protocol-error");
    }
  });
  channel.addEventListener("close", (_event, options) => end(options.problem || "disconnected"));
  channel.send(new TextEncoder().encode(JSON.stringify({ method, parameters, more: true }) + "\0"));
  return { close };
}

/** All replies of a method that ends. */
export function replies(address, method, parameters) {
  return new Promise((resolve, reject) => {
    const all = [];
    call(address, method, parameters, {
      reply: parameters => all.push(parameters),
      done: problem => problem ? reject(Object.assign(new Error(problem), { problem })) : resolve(all),
    });
  });
}
