// Times a gallery's list in Chromium: node gallery.mjs CHROMIUM MODULES ADDRESS PROFILE, and prints milliseconds.

import { createRequire } from "node:module";

const [chromium, modules, address, profile] = process.argv.slice(2);
const puppeteer = createRequire(`${modules}/`)("puppeteer-core");
const browser = await puppeteer.launch({
  executablePath: chromium,
  userDataDir: profile,
  pipe: true,
  args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"],
});
const found = {};
try {
  const tab = await browser.newPage();
  await tab.setViewport({ width: 1280, height: 800 });
  await tab.goto(address, { waitUntil: "load" });
  Object.assign(found, await tab.evaluate(loaded));
  found.search = await tab.evaluate(acted, "q", "vgg16 decided");
  found.filter = await tab.evaluate(acted, "frameworks", "torch");
  found.order = await tab.evaluate(acted, "sort", "ratio");
  await tab.evaluate(acted, "q", "");
  found.page = await tab.evaluate(turned);
} finally {
  await browser.close();
}
console.log(JSON.stringify(found));

/** From the start of the navigation: when the list could be used, and when the pictures in the window were drawn. */
async function loaded() {
  const inWindow = [...document.images].filter((one) => one.getBoundingClientRect().top < innerHeight);
  await Promise.all(inWindow.map((one) => one.decode()));
  const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  await frame();
  const all = performance.now();
  return { usable: Number(document.documentElement.dataset.ready), drawn: all, cards: window.GALLERY.rows.length };
}

/** From an input to the next frame that shows what it does. */
async function acted(name, value) {
  const field = document.getElementById(name);
  const begun = performance.now();
  field.value = value;
  field.dispatchEvent(new Event("input", { bubbles: true }));
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  return performance.now() - begun;
}

/** The same of the next page. */
async function turned() {
  const begun = performance.now();
  document.getElementById("after").click();
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  return performance.now() - begun;
}
