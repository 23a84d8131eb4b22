#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Text does not contain words that make it read like a translation: documents, manuals, what is installed, scripts, the build,
and string literals and comments of the programs. Each has a better one; see WORDS.

The code of the programs itself is not checked, only its text. tests/ is exempt: it quotes input (among it the texts of other
programs), and its names and messages are read only together with the code of the test that has failed.

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

FILES = ["README.md", "CMakeLists.txt", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"]
FOLDERS = [".ci", "cmake", "cockpit", "completions", "dbus", "docs", "examples", "packaging", "scripts", "systemd", "varlink"]
SOURCES = ["cli", "daemon", "exporter", "history", "lib"]  # with the files that they install

# A comment, a character, a raw string, or a string; of all but characters the text.
TOKEN = re.compile(
    r"""//(?P<line>[^\n]*)|/\*(?P<block>.*?)\*/|(?<!\w)'(?:[^'\\\n]|\\.)+'|R"(?P<end>[^(\s]*)\((?P<raw>.*?)\)(?P=end)"|"(?P<text>(?:[^"\\\n]|\\.)*)\"""",
    re.DOTALL)


def texts_of_code(source):
    """The line and the text of each comment and literal; of adjacent literals, which the compiler joins, and of adjacent lines of
    comments, the whole text."""
    joined, kind, end = None, None, 0
    for token in TOKEN.finditer(source):
        text = next((token[group] for group in ("raw", "text", "line", "block") if token[group] is not None), None)
        if text is None:
            continue
        is_comment = token.group().startswith("/")
        if joined and kind == is_comment and not source[end:token.start()].strip():
            joined = (joined[0], joined[1] + text)
        else:
            if joined:
                yield joined
            joined = (source.count("\n", 0, token.start()) + 1, text)
        kind, end = is_comment, token.end()
    if joined:
        yield joined


def texts(source):
    for path in [source / name for name in FILES]:
        yield path, enumerate(path.read_text(encoding="utf-8").split("\n"), 1)
    for folder in FOLDERS:
        for path in sorted(p for p in (source / folder).rglob("*") if p.is_file() and p.suffix != ".png"
                           and "__pycache__" not in p.parts):
            yield path, enumerate(path.read_text(encoding="utf-8").split("\n"), 1)
    for folder in SOURCES:
        for path in sorted(p for p in (source / folder).rglob("*") if p.is_file()):
            text = path.read_text(encoding="utf-8")
            yield path, texts_of_code(text) if path.suffix in (".cpp", ".h") else enumerate(text.split("\n"), 1)


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
