# SPDX-License-Identifier: Apache-2.0
"""Attackers: processes of their own, at the lowest priority, each as a user of this host. The attacks themselves are in
varlink_attacks.py, bus_attacks.py and http_attacks.py: functions that call their argument `ready` once under way."""
import errno
import multiprocessing
import os
import resource
import selectors
import signal
import socket
import sys
import time
import traceback

PATIENCE = 60  # seconds, for an attack to begin
CHUNK = 64 << 10


class Attackers:
    """Attacks that were started are killed at the end of `with`, whatever they are doing."""

    def __init__(self):
        self.processes = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def start(self, uid, attack, *arguments):
        """Returns the attack's process once it is under way."""
        context = multiprocessing.get_context("fork")
        begun, begins = context.Pipe(duplex=False)
        process = context.Process(target=run, args=(uid, begins, attack, arguments), daemon=True)
        process.start()
        begins.close()
        self.processes.append(process)
        try:
            assert begun.poll(PATIENCE), f"{attack.__name__} has not begun"
            begun.recv()
        except EOFError:
            raise AssertionError(f"{attack.__name__} has failed") from None
        finally:
            begun.close()
        return process

    def end(self):
        for process in self.processes:
            process.kill()
        for process in self.processes:
            process.join()
        self.processes = []


def run(uid, begins, attack, arguments):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(19)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if uid:
        os.setgroups([])
        os.setgid(uid)
        os.setuid(uid)
    try:
        attack(lambda: begins.send(True), *arguments)
    except BaseException:  # of a process that must not run its parent's code afterwards
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)
    os._exit(0)


def unix(path):
    """Connects there; for Swarm."""
    def connect():
        client = socket.socket(socket.AF_UNIX)
        client.setblocking(False)
        return client, client.connect_ex(path)
    return connect


def tcp(port, sources, receive_buffer=None):
    """Connects to that port of this host, from each of these addresses in turn; for Swarm."""
    count = 0

    def connect():
        nonlocal count
        client = socket.socket()
        client.setblocking(False)
        if receive_buffer:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        client.bind((sources[count % len(sources)], 0))
        count += 1
        return client, client.connect_ex(("127.0.0.1", port))
    return connect


class Swarm:
    """Many connections of one process, each of which sends the same text for ever and is made again when it has been closed.

    reads: whether what comes back is read, and thrown away. every: seconds between two bytes; None: as fast as they are
    taken. again: where the text goes on when all of it has been sent."""

    def __init__(self, connect, count, text, reads=True, every=None, again=0):
        self.connect, self.count, self.reads, self.every, self.again = connect, count, reads, every, again
        self.text = text if every else text * max(1, CHUNK // max(1, len(text)))
        self.selector = selectors.DefaultSelector()
        self.sent = {}  # by connection: how much of the text

    def run(self, ready, seconds=None):
        """For so long, or for ever."""
        begin = byte = pause = time.monotonic()
        while seconds is None or time.monotonic() < begin + seconds:
            now = time.monotonic()
            if len(self.sent) < self.count and now >= pause:
                self.fill()
                pause = now + 0.1
            if ready and (len(self.sent) == self.count or now > begin + 5):  # all that are let in
                ready()
                ready = None
            if self.every and now >= byte:
                for client in list(self.sent):
                    self.send(client, 1)
                byte = now + self.every
            if not self.selector.get_map():
                time.sleep(0.05)
            for key, events in self.selector.select(0.05):
                if events & selectors.EVENT_READ and self.read(key.fileobj):
                    continue
                if events & selectors.EVENT_WRITE:
                    self.send(key.fileobj, CHUNK)

    def fill(self):
        while len(self.sent) < self.count:
            client, result = self.connect()
            if result not in (0, errno.EINPROGRESS):
                client.close()
                return
            events = selectors.EVENT_READ if self.reads or self.every else 0
            if not self.every and self.text:
                events |= selectors.EVENT_WRITE
            self.sent[client] = 0
            self.selector.register(client, events or selectors.EVENT_READ)

    def read(self, client):
        """Whether it is closed."""
        try:
            if client.recv(CHUNK):
                return False
        except BlockingIOError:
            return False
        except OSError:
            pass
        self.drop(client)
        return True

    def send(self, client, most):
        sent = self.sent[client]
        if not self.text:
            return
        try:
            sent += client.send(self.text[sent:sent + most])
        except BlockingIOError:
            return
        except OSError as error:
            if error.errno not in (errno.ENOTCONN, errno.EINPROGRESS):
                self.drop(client)
            return
        self.sent[client] = sent if sent < len(self.text) else self.again

    def drop(self, client):
        self.selector.unregister(client)
        del self.sent[client]
        client.close()
