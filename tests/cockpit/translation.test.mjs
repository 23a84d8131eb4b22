// SPDX-License-Identifier: Apache-2.0
// All text of the page is translated, and nothing else is.
import assert from "node:assert/strict";
import fs from "node:fs";
import { test } from "node:test";
import vm from "node:vm";

const PAGE = new URL("../../cockpit/", import.meta.url);
const LITERAL = /"(?:[^"\\]|\\.)*"/g;
const CALL = /\b(?:_|say)\(\s*("(?:[^"\\]|\\.)*"(?:\s*\+\s*"(?:[^"\\]|\\.)*")*)/g;

const read = name => fs.readFileSync(new URL(name, PAGE), "utf8");
const sources = fs.readdirSync(PAGE).filter(name => name.endsWith(".js") && !name.startsWith("po."));

function textsOfPage() {
  const texts = new Set();
  for (const name of sources) {
    for (const [, argument] of read(name).matchAll(CALL)) {
      texts.add(argument.match(LITERAL).map(piece => JSON.parse(piece)).join(""));
    }
  }
  for (const [, text] of read("index.html").matchAll(/translate="yes"[^>]*>([^<]+)</g)) texts.add(text.trim());
  return texts;
}

function translations(name) {
  let catalog;
  vm.runInNewContext(read(name), { cockpit: { locale: given => { catalog = given; } } });
  return catalog;
}

test("the catalog has each text of the page, with the same values, and no other", () => {
  const { "": head, ...german } = translations("po.de.js");
  const texts = textsOfPage();
  assert.ok(texts.size > 100);
  assert.equal(head.language, "de");
  assert.deepEqual(Object.keys(german).sort(), [...texts].sort());
  for (const [text, [, translated]] of Object.entries(german)) {
    assert.deepEqual([...translated.matchAll(/\$\d/g)].map(String).sort(), [...text.matchAll(/\$\d/g)].map(String).sort(), text);
  }
});

test("so does that of the menu", () => {
  const { "": head, ...german } = translations("po.manifest.de.js");
  assert.equal(head.language, "de");
  assert.deepEqual(Object.keys(german), [JSON.parse(read("manifest.json")).menu.index.label]);
});

test("nothing from the host can become HTML, code or an inline style", () => {
  for (const name of sources) {
    assert.doesNotMatch(read(name), /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser|setAttribute\("style"/,
      name);
  }
  assert.doesNotMatch(read("index.html"), /\sstyle=|<style|\son\w+=|<script>/);
});
