# SPDX-License-Identifier: Apache-2.0
"""What any user of the host can do to keplerd's varlink socket. `path`: of that socket."""
import contextlib
import json
import socket
import time

from attackers import Swarm, unix

EACH = 64  # connections that one user may have


def call(method, more=False, **parameters):
    return json.dumps({"method": f"org.keplerd.Energy.{method}", "parameters": parameters, "more": more}).encode() + b"\0"


def pipelined_lists(ready, path, connections=EACH):
    """All units sorted for one row, again and again, without waiting for the replies."""
    Swarm(unix(path), connections, call("List", more=True, kind="units", limit=1, sort="name")).run(ready)


def whole_lists(ready, path, kind="units", connections=EACH):
    """Every row, again and again."""
    Swarm(unix(path), connections, call("List", more=True, kind=kind)).run(ready)


def deaf(ready, path, connections=EACH):
    """The same, without ever reading a reply."""
    Swarm(unix(path), connections, call("List", more=True, kind="units"), reads=False).run(ready)


def deaf_followers(ready, path, connections=EACH):
    """Follows everything and never reads."""
    Swarm(unix(path), connections, call("Monitor", more=True, kind="units"), reads=False).run(ready)


def pinning(ready, path, connections=EACH, every=1.05):
    """Follows everything on one connection after the other, each from another sample on, and wants to hear of the next
    after a year. All is read."""
    ready()
    clients = []
    for _ in range(connections):
        clients.append(client := socket.socket(socket.AF_UNIX))
        client.connect(path)
        client.sendall(call("Monitor", more=True, kind="units", intervalUsec=365 * 86_400 * 1_000_000))
        end = time.monotonic() + every
        client.settimeout(0.2)
        while time.monotonic() < end:
            with contextlib.suppress(OSError):  # the attack is over
                if not client.recv(1 << 20):
                    time.sleep(0.2)
    while True:
        time.sleep(1)


def dripping(ready, path, connections=EACH, every=0.001):
    """A call that is sent byte by byte and never ends; it exceeds the limit of a call."""
    Swarm(unix(path), connections, b'{"method":"' + b"x" * 1000, every=every, again=100).run(ready)


def holding(ready, path, connections=EACH):
    """Connections that say nothing."""
    Swarm(unix(path), connections, b"", reads=True).run(ready)


def garbage(ready, path, connections=EACH):
    """Sends something other than a call, which ends the connection, and reconnects at once."""
    Swarm(unix(path), connections, b"[" * 5000 + b"\0").run(ready)
