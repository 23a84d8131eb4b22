# SPDX-License-Identifier: Apache-2.0
"""A small management controller on QEMU's external-BMC protocol (hw/ipmi/ipmi_bmc_extern.c, which has it from OpenIPMI's lanserv):
it answers what the kernel's driver asks, DCMI power readings, and sensor data records of its own."""
import socket
import struct
import threading

MESSAGE_END, COMMAND_END, ESCAPE = 0xA0, 0xA1, 0xAA
APPLICATION, SENSOR, STORAGE, DCMI = 0x06, 0x04, 0x0A, 0x2C
OK, TIMEOUT_CODE, INVALID = b"\x00", b"\xc3", b"\xc1"


def power_record(number, name, offset, entity=7):
    """A full sensor record (IPMI 2.0, table 43-1) in watts: the raw reading, plus `offset`."""
    body = bytes([0x20, 0, number, entity, 1, 0x7F, 0x68, 0x0B, 0x01]) + bytes(6)
    body += bytes([0x00, 6, 0, 0])                                   # unsigned, watts, linear
    body += bytes([1, 0, offset & 0xFF, (offset >> 8 & 3) << 6, 0, 0])  # M, B
    body += bytes(16) + bytes([0, 0xC0 | len(name)]) + name.encode()
    return struct.pack("<HBBB", number, 0x51, 0x01, len(body)) + body


def compact_record(number):
    """A compact one (table 43-2): QEMU's own controller has only sensors with such a record, which has no scale."""
    body = bytes([0x20, 0, number, 7, 1, 0x7F, 0x68, 0x0B, 0x01]) + bytes(17) + b"\xc1x"
    return struct.pack("<HBBB", 100 + number, 0x51, 0x02, len(body)) + body


class EmulatedBmc:
    def __init__(self):
        self.dcmi = self.power_reading(208)  # the reply, with its completion code
        self.sensors = {}                    # number: (record, raw reading)
        self.mute = False
        self.garble = None                   # makes other bytes of a frame
        self.listening = threading.Event()
        self.requests = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.connection = None
        self.closed = False
        self.listening.set()
        threading.Thread(target=self.serve, daemon=True).start()

    @staticmethod
    def power_reading(watts, measuring=True):
        return OK + struct.pack("<BHHHHIIB", 0xDC, watts, 1, 400, watts, 0, 1000, 0x40 if measuring else 0)

    def serve(self):
        while self.listening.wait() and not self.closed:
            try:
                self.connection, _ = self.listener.accept()
                self.talk(self.connection)
            except OSError:
                pass

    def talk(self, connection):
        frame, escaped = bytearray(), False
        while data := connection.recv(4096):
            for byte in data:
                if byte == MESSAGE_END:
                    self.answer(connection, bytes(frame))
                    frame.clear()
                elif byte == COMMAND_END:  # its version, its capabilities, a reset: nothing to do
                    frame.clear()
                elif byte == ESCAPE:
                    escaped = True
                else:
                    frame.append(byte & ~0x10 if escaped else byte)
                    escaped = False

    def answer(self, connection, frame):
        sequence, function, command, data = frame[0], frame[1] >> 2, frame[2], frame[3:-1]
        self.requests += 1
        if self.mute:
            return
        reply = bytes([sequence, frame[1] | 0x04, command]) + self.reply(function, command, data)
        reply += bytes([-sum(reply) & 0xFF])
        if self.garble and function == DCMI:
            reply = self.garble(reply)
        escaped = b"".join(bytes([ESCAPE, byte | 0x10]) if byte in (MESSAGE_END, COMMAND_END, ESCAPE) else bytes([byte]) for byte in reply)
        connection.sendall(escaped + bytes([MESSAGE_END]))

    def reply(self, function, command, data):
        if function == APPLICATION:
            return {0x01: OK + bytes([0x20, 0x01, 0x01, 0x00, 0x02, 0x03, 0, 0, 0, 0, 0]),  # device ID: IPMI 2.0, sensors, records
                    0x2E: OK, 0x2F: OK + b"\x00", 0x30: OK, 0x31: OK + b"\x00", 0x35: b"\x80"}.get(command, INVALID)
        if function == DCMI:
            return self.dcmi if command == 0x02 else INVALID
        if function == STORAGE:
            return self.records(command, data)
        if function == SENSOR and command == 0x2D and data and data[0] in self.sensors:
            return OK + bytes([self.sensors[data[0]][1], 0xC0, 0, 0])
        return INVALID

    def records(self, command, data):
        if command == 0x20:
            return OK + struct.pack("<BHHIIB", 0x51, len(self.sensors), 0, 1, 1, 0x02)
        if command == 0x22:
            return OK + b"\x01\x00"
        if command != 0x23 or not self.sensors:
            return INVALID
        _, wanted, offset, count = struct.unpack("<HHBB", data[:6])
        numbers = sorted(self.sensors)
        number = numbers[0] if wanted == 0 else wanted
        later = [other for other in numbers if other > number]
        return OK + struct.pack("<H", later[0] if later else 0xFFFF) + self.sensors[number][0][offset:offset + count]

    def reset(self):
        """It goes, and does not come back before come_back()."""
        self.listening.clear()
        self.listener.close()
        self.connection.shutdown(socket.SHUT_RDWR)
        self.connection.close()

    def come_back(self):
        self.listener = socket.create_server(("127.0.0.1", self.port))
        self.listening.set()

    def close(self):
        self.closed = True
        self.listening.set()
        self.listener.close()
        if self.connection:
            self.connection.close()
