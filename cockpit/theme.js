// SPDX-License-Identifier: Apache-2.0
// Light or dark, as chosen in Cockpit's menu, which every page has to apply to itself; "auto" is the choice of the browser.

const CLASSES = ["pf-theme-dark", "pf-v5-theme-dark", "pf-v6-theme-dark", "dark"];
const browser = window.matchMedia("(prefers-color-scheme: dark)");

function apply(chosen) {
  const style = chosen ?? localStorage.getItem("shell:style") ?? "auto";
  const dark = style === "dark" || (style === "auto" && browser.matches);
  for (const name of CLASSES) document.documentElement.classList.toggle(name, dark);
}

export function followTheme() {
  window.addEventListener("storage", event => {
    if (event.key === "shell:style") apply();
  });
  window.addEventListener("cockpit-style", event => apply(event.detail?.style));
  browser.addEventListener("change", () => apply());
  apply();
}
