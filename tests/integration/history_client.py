# SPDX-License-Identifier: Apache-2.0
"""Calls of org.keplerd.History."""
import json
import socket


def ask(address, method):
    """The reply; nothing where keplerd-history does not run. What is not written yet is written first."""
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(address))
            connection.sendall(json.dumps({"method": f"org.keplerd.History.{method}"}).encode() + b"\0")
            reply = b""
            while not reply.endswith(b"\0"):
                if not (more := connection.recv(1 << 16)):
                    return {}
                reply += more
            return json.loads(reply[:-1])["parameters"]
    except OSError:
        return {}
