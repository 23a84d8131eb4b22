# SPDX-License-Identifier: Apache-2.0
"""Clients of keplerd's socket as users of this host. Needs root, to be those users."""
import contextlib
import json
import os

from written_host import read_message, stream_of


@contextlib.contextmanager
def user(uid, groups=()):
    """Connections made inside `with` are this user's."""
    os.setgroups(groups)
    os.setegid(uid)
    os.seteuid(uid)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)
        os.setgroups([])


class Varlink:
    """One user's connection."""

    def __init__(self, daemon, uid, groups=()):
        with user(uid, groups):
            self.stream = stream_of(daemon.connect())

    def call(self, method, more=False, **parameters):
        """The replies, or the error's name."""
        message = {"method": f"org.keplerd.Energy.{method}", "parameters": parameters, "more": more}
        self.stream.write(json.dumps(message).encode() + b"\0")
        self.stream.flush()
        replies = []
        while True:
            reply = self.next()
            if "error" in reply:
                return reply["error"]
            replies.append(reply["parameters"])
            if not reply.get("continues"):
                return replies

    def next(self):
        return json.loads(read_message(self.stream))

    def status(self):
        return self.call("GetStatus")[0]

    def ids(self, kind):
        return {reply["row"]["id"] for reply in self.call("List", more=True, kind=kind) if "row" in reply}
