# SPDX-License-Identifier: Apache-2.0
"""What a client that reaches keplerd-exporter's port can do, from several addresses of this host."""
import base64

from attackers import Swarm, tcp

EACH = 64  # connections that one address may have
# Longer than a response may remain unread.
HEADERS = b"GET /metrics HTTP/1.1\r\nHost: x\r\nX: "


def addresses(count):
    """127.0.0.2 and the addresses after it."""
    return [f"127.0.{(i + 2) // 256}.{(i + 2) % 256}" for i in range(count)]


def basic(user, password):
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def dripping(ready, port, connections, every=4.0):
    """Headers that never end, a byte now and then."""
    Swarm(tcp(port, addresses(-(-connections // EACH))), connections, HEADERS + b"x" * 1000, every=every,
          again=len(HEADERS)).run(ready)


def silent(ready, port, connections):
    """Connections that say nothing."""
    Swarm(tcp(port, addresses(-(-connections // EACH))), connections, b"").run(ready)


def deaf(ready, port, connections):
    """Requests the page again and again, and does not read it."""
    Swarm(tcp(port, addresses(-(-connections // EACH)), receive_buffer=4096), connections,
          b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", reads=False).run(ready)


def guessing(ready, port, sources, connections=16):
    """Wrong passwords, all different, from this many addresses."""
    guesses = b"".join(f"GET /-/healthy HTTP/1.1\r\nHost: x\r\nAuthorization: {basic('joe', f'guess {i}')}\r\n\r\n".encode()
                       for i in range(3000))
    Swarm(tcp(port, addresses(sources)), connections, guesses).run(ready)


def many_arguments(ready, port, connections=16):
    """Queries of 2,000 arguments."""
    target = "/metrics?" + "&".join(["a=1"] * 2000)
    Swarm(tcp(port, addresses(1)), connections, f"GET {target} HTTP/1.1\r\nHost: x\r\n\r\n".encode()).run(ready)
