#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""In README's pictures, as Chromium renders them, every character is in its column.

usage: pictures.py SOURCE CHROMIUM
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE, CHROMIUM = pathlib.Path(sys.argv[1]), sys.argv[2]
CELL = float(re.search(r"^CELL.* = ([\d.]+)", (SOURCE / "scripts/screenshot").read_text(), re.M).group(1))
NEAR = CELL / 4

# For each line of text: where it should start, what it is, and where each of its characters is.
MEASURE = """<script>
const found = [];
for (const text of document.querySelectorAll("text[textLength]")) {
  const places = [];
  for (let i = 0; i < text.getNumberOfChars(); i++) places.push(text.getStartPositionOfChar(i).x);
  found.push([parseFloat(text.getAttribute("x")), text.textContent, places]);
}
document.body.textContent = "MEASURED" + JSON.stringify(found) + "END";
</script>"""


def measure(picture, directory):
    page = directory / "page.html"
    page.write_text(f'<meta charset="utf-8"><body>{picture.read_text()}{MEASURE}</body>')
    shown = subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={directory}/profile", "--dump-dom",
         page.as_uri()], capture_output=True, text=True, timeout=120)
    found = re.search("MEASURED(.*)END</body>", shown.stdout, re.S)
    if not found:
        sys.exit(f"{picture}: {CHROMIUM} has not rendered it: {shown.stdout[-300:]}\n{shown.stderr[-1000:]}")
    text = found.group(1).replace("&lt;", "<").replace("&gt;", ">").replace("&nbsp;", "\u00a0").replace("&amp;", "&")
    return json.loads(text)


def problems(picture, directory):
    lines = measure(picture, directory)
    if not lines:
        yield "no text"
    for left, text, places in lines:
        if len(places) != len(text):
            yield f"{len(places)} of {len(text)} characters are shown: {text!r}"
        elif wrong := [i for i, place in enumerate(places) if abs(place - left - i * CELL) > NEAR]:
            yield f"character {wrong[0]} is at {places[wrong[0]]:.1f} instead of {left + wrong[0] * CELL:.1f}: {text!r}"


def main():
    if not shutil.which(CHROMIUM):
        sys.exit("chromium is missing: scripts/install-deps tests")
    pictures = sorted((SOURCE / "docs/pictures").glob("*.svg"))
    failed = not pictures
    with tempfile.TemporaryDirectory() as directory:
        for picture in pictures:
            for problem in problems(picture, pathlib.Path(directory)):
                print(f"{picture.relative_to(SOURCE)}: {problem}")
                failed = True
    print(f"{len(pictures)} pictures")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
