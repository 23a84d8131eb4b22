#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Text for users does not contain words that make it read like a translation: documents, manuals, what is installed, and
string literals of the programs. Each has a better one; see WORDS.

usage: words.py SOURCE_DIRECTORY
"""
import pathlib
import re
import sys

WORDS = {
    r"tell|tells|told|telling": "show, report, state or send",
    r"news": "changes",
    r"strangers?": "unprivileged callers or other users",
    r"lest": "so that ... not",
    r"beside": "next to, in addition to or compared with",
    r"anew": "again",
    r"whoever": "the user or caller who",
    r"(?:go|goes|going|gone|went) round": "wrap",
    r"at (?:most|least) so (?:many|much|long)": "at most N, or a minimum of",
    r"is none of": "expected one of",
}
PATTERNS = [(re.compile(rf"\b(?:{words})\b", re.IGNORECASE), better) for words, better in WORDS.items()]

FILES = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "packaging/deb/control", "packaging/rpm/keplerd.spec"]
FOLDERS = ["docs", "systemd", "varlink", "dbus", "completions", "exporter/grafana", "exporter/prometheus"]
SOURCES = ["cli", "daemon", "exporter", "lib"]

# A comment, a character, a raw string, or a string; of the last two the text.
TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|(?<!\w)'(?:[^'\\\n]|\\.)+'|R"(?P<end>[^(\s]*)\((?P<raw>.*?)\)(?P=end)"|"(?P<text>(?:[^"\\\n]|\\.)*)\"""",
    re.DOTALL)


def string_literals(source):
    """The line and the text of each literal; of adjacent ones, which the compiler joins, the whole text."""
    joined, end = None, 0
    for token in TOKEN.finditer(source):
        text = token["raw"] if token["raw"] is not None else token["text"]
        if text is None:
            continue
        if joined and not source[end:token.start()].strip():
            joined = (joined[0], joined[1] + text)
        else:
            if joined:
                yield joined
            joined = (source.count("\n", 0, token.start()) + 1, text)
        end = token.end()
    if joined:
        yield joined


def texts(source):
    for path in [source / name for name in FILES]:
        yield path, enumerate(path.read_text(encoding="utf-8").split("\n"), 1)
    for folder in FOLDERS:
        for path in sorted(p for p in (source / folder).rglob("*") if p.is_file() and p.name != "CMakeLists.txt"):
            yield path, enumerate(path.read_text(encoding="utf-8").split("\n"), 1)
    for folder in SOURCES:
        for path in sorted(p for p in (source / folder).rglob("*") if p.suffix in (".cpp", ".h")):
            yield path, string_literals(path.read_text(encoding="utf-8"))


def main():
    source = pathlib.Path(sys.argv[1]).resolve()
    complaints, count = [], 0
    for path, lines in texts(source):
        count += 1
        for number, line in lines:
            for pattern, better in PATTERNS:
                complaints += [f"{path.relative_to(source)}:{number}: '{found}': rather {better}"
                               for found in pattern.findall(line)]
    print("\n".join(complaints + [f"{count} files, {len(complaints)} words"]))
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
