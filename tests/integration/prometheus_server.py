# SPDX-License-Identifier: Apache-2.0
"""A real Prometheus, as a child of the test."""
import json
import socket
import subprocess
import urllib.parse
import urllib.request


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


class Prometheus:
    def __init__(self, directory, target, **others):
        self.directory = directory / "prometheus"
        self.directory.mkdir()
        self.url = f"http://127.0.0.1:{free_port()}"
        jobs = [("fast", "1s", target), ("slow", "4s", target), *((name, "2s", other) for name, other in others.items())]
        jobs = "".join(f"  - {{job_name: {name}, scrape_interval: {interval}, static_configs: [{{targets: ['{target}']}}]}}\n"
                       for name, interval, target in jobs)
        (self.directory / "prometheus.yml").write_text(f"scrape_configs:\n{jobs}")
        self.log = open(self.directory / "log", "w")
        self.process = subprocess.Popen(
            ["prometheus", f"--config.file={self.directory}/prometheus.yml", f"--storage.tsdb.path={self.directory}/data",
             f"--web.listen-address={self.url.removeprefix('http://')}", "--log.level=warn"], stderr=self.log)

    def ask(self, path, **parameters):
        with urllib.request.urlopen(f"{self.url}/api/v1/{path}?{urllib.parse.urlencode(parameters)}", timeout=60) as answer:
            return json.load(answer)["data"]

    def query(self, expression, at):
        return self.ask("query", query=expression, time=at)["result"]

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=60)
        self.log.close()
