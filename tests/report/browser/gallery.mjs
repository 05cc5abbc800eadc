// Uses a gallery as a reader does, in one start of a real browser: node gallery.mjs CHROMIUM MODULES JOB, and prints what it saw.
//
// JOB is a file: {file: address of the list, http: the same from a web server, study: slug, page: a report within the folder, widths, themes, profile, shots: folder or null}.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const [chromium, modules, job] = process.argv.slice(2);
const require = createRequire(`${modules}/`);
const puppeteer = require("puppeteer-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const { file, http, study, page, widths, themes, profile, shots } = JSON.parse(readFileSync(job, "utf8"));

const browser = await puppeteer.launch({
  executablePath: chromium,
  userDataDir: profile,
  pipe: true,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"],
});
const seen = { errors: [] };
const asked = new Set();
try {
  const tab = await browser.newPage();
  tab.on("pageerror", (error) => seen.errors.push(String(error)));
  tab.on("console", (message) => message.type() === "error" && seen.errors.push(message.text()));
  tab.on("request", (request) => asked.add(request.url()));
  await tab.setViewport({ width: 1280, height: 800 });
  const look = () => tab.evaluate(list);
  const open = async (fragment) => {
    await tab.goto("about:blank");
    await tab.goto(`${file}${fragment}`);
  };

  await open("");
  seen.first = await look();
  await tab.keyboard.press("/");
  seen.slash = (await look()).focus;
  await tab.keyboard.type("vgg16 fastest");
  seen.searched = await look();
  await tab.reload();
  seen.again = await look();
  await tab.focus("#q");
  seen.walked = [];
  for (const key of ["ArrowDown", "ArrowRight", "ArrowDown", "ArrowLeft", "End", "Home", "ArrowUp"]) {
    await tab.keyboard.press(key);
    seen.walked.push((await look()).focus);
  }
  await tab.keyboard.press("ArrowDown");
  await Promise.all([tab.waitForNavigation(), tab.keyboard.press("Enter")]);
  seen.opened = tab.url();
  seen.title = await tab.evaluate(() => document.querySelector("h1").textContent);
  await Promise.all([tab.waitForNavigation(), tab.evaluate(() => document.querySelector("nav a").click())]);
  seen.back = tab.url();

  await open("");
  for (const [name, value] of [["workloads", "mlp-mnist"], ["frameworks", "torch"], ["devices", "cuda: NVIDIA L4"], ["verdicts", "undecided"]]) {
    await tab.select(`#${name}`, value);
  }
  seen.filtered = await look();
  await open("#from=2026-03-01&to=2026-03-31&sort=oldest");
  seen.dated = await look();
  await open("#sort=ratio");
  seen.sorted = await look();
  await open(`#study=${study}`);
  seen.study = await look();
  await open("#q=nothing+has+this&workloads=no-such&page=99");
  seen.nothing = await look();
  await tab.click("button[type=reset]");
  seen.cleared = await look();
  await tab.click("#after");
  seen.second = await look();
  await tab.keyboard.press("End");
  await tab.keyboard.press("ArrowRight");
  seen.third = await look();

  seen.looks = [];
  const folder = file.slice(0, file.lastIndexOf("/") + 1);
  for (const [name, address] of [["list", file], ["study", `${file}#study=${study}`], ["nothing", `${file}#q=nothing+has+this`], ["page", `${folder}${page}`]]) {
    await tab.goto("about:blank");
    await tab.goto(address);
    await tab.evaluate(axe);
    for (const width of widths) {
      await tab.setViewport({ width, height: 800 });
      for (const theme of themes) {
        await tab.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }]);
        await tab.evaluate(() => Promise.all([...document.images].map((one) => ((one.loading = "eager"), one.decode().catch(() => {})))));
        if (shots) await tab.screenshot({ path: `${shots}/gallery-${name}-${width}-${theme}.png` });
        const violations = await tab.evaluate(async () => (await axe.run(document, { preload: false })).violations.map(({ id, nodes }) => `${id}: ${nodes[0].html.slice(0, 200)}`));
        const overflow = await tab.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        const drawn = await tab.evaluate(() => [...document.images].every((one) => one.naturalWidth > 0));
        seen.looks.push({ name, width, theme, violations, overflow, drawn });
      }
    }
  }
  seen.asked = [...asked];
  const before = seen.errors.length;
  await tab.goto(http);
  seen.served = { ...(await look()), refused: seen.errors.slice(before) };
} finally {
  await browser.close();
}
console.log(JSON.stringify(seen));

/** What the list shows. */
function list() {
  const text = (id) => document.getElementById(id).textContent;
  const at = document.activeElement;
  const cards = [...document.querySelectorAll(".card")];
  return {
    count: text("count"),
    within: text("within"),
    place: document.getElementById("pages").hidden ? "" : text("place"),
    hash: location.hash,
    cards: cards.length,
    heads: cards.slice(0, 3).map((one) => one.querySelector("h2").textContent),
    ratios: cards.map((one) => one.querySelector("h2 a").getAttribute("href")),
    focus: at.id || at.getAttribute("href") || at.tagName,
    markup: document.querySelectorAll(".card script, .card b, .card i").length,
    hacked: window.hacked ?? null,
  };
}
