// Looks at pages in a real browser, one start for all: node look.mjs CHROMIUM MODULES JOB, and prints what was found.
//
// JOB is a file: {pages: {name: {path: path, looks: [[width, theme], ...]}}, profile: path, shots: folder or null}.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const [chromium, modules, job] = process.argv.slice(2);
const require = createRequire(`${modules}/`);
const puppeteer = require("puppeteer-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const { pages, profile, shots } = JSON.parse(readFileSync(job, "utf8"));

const browser = await puppeteer.launch({
  executablePath: chromium,
  userDataDir: profile,
  pipe: true,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"],
});
const found = [];
try {
  const tab = await browser.newPage();
  let asked = [];
  tab.on("request", (request) => request.isNavigationRequest() || asked.push(request.url()));
  for (const [name, { path, looks }] of Object.entries(pages)) {
    asked = [];
    await tab.goto(`file://${path}`);
    await tab.evaluate(axe);
    for (const [width, theme] of looks) {
      await tab.setViewport({ width, height: 800 });
      await tab.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }]);
      const file = `${shots}/${name}-${width}-${theme}.png`;
      if (shots) await tab.screenshot({ path: file, fullPage: true });
      const placed = await tab.evaluate(places);
      await tab.evaluate(folds, true);
      const drawn = await tab.evaluate(measures);
      const isFirst = width === looks[0][0] && theme === looks[0][1];
      const violations = await tab.evaluate(violated, isFirst);
      await tab.evaluate(folds, false);
      found.push({ name, width, theme, asked, violations, ...placed, ...drawn });
    }
  }
} finally {
  await browser.close();
}
console.log(JSON.stringify(found));

/** Open or close all that is folded. */
function folds(open) {
  for (const one of document.querySelectorAll("details")) one.open = open;
}

/** What axe-core finds. What only structure decides is the same in every theme and is looked at once a page. */
async function violated(isFirst) {
  const rules = isFirst ? {} : { runOnly: ["color-contrast", "scrollable-region-focusable", "target-size"] };
  const { violations } = await axe.run(document, { ...rules, resultTypes: ["violations"], elementRef: false });
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 200)).join(" | ")}`);
}

/** Where the first things of a page stand, with all folds closed. */
function places() {
  const [head, chart] = ["h1", "figure"].map((name) => document.querySelector(name)?.getBoundingClientRect());
  return {
    answer: head ? head.bottom + scrollY : null,
    chartTop: chart ? chart.top + scrollY : null,
    chartEnd: chart ? chart.bottom + scrollY : null,
  };
}

/** Sizes and contrasts of everything as it is drawn, with all folds open. */
function measures() {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const parse = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [red, green, blue, alpha] = canvas.getImageData(0, 0, 1, 1).data;
    return [red, green, blue, alpha / 255];
  };
  const known = new Map();
  const rgba = (colour) => known.get(colour) ?? known.set(colour, parse(colour)).get(colour);
  const over = (colour, opacity, paper) => {
    const [red, green, blue, alpha] = rgba(colour);
    return [red, green, blue].map((part, index) => part * alpha * opacity + paper[index] * (1 - alpha * opacity));
  };
  const luminance = (colour) => {
    const [red, green, blue] = colour.map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const contrast = (first, second) => {
    const [dark, light] = [luminance(first), luminance(second)].sort((one, other) => one - other);
    return (light + 0.05) / (dark + 0.05);
  };
  const page = rgba(getComputedStyle(document.body).backgroundColor).slice(0, 3);
  const paperOf = (element) => {
    for (let one = element; one; one = one.parentElement) {
      const [, , , alpha] = rgba(getComputedStyle(one).backgroundColor);
      if (alpha === 1) return rgba(getComputedStyle(one).backgroundColor).slice(0, 3);
    }
    return page;
  };
  const seen = (element) => element.checkVisibility() && element.getBoundingClientRect().width > 1;

  const texts = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !seen(element) || element.closest("caption, style")) continue;
    const style = getComputedStyle(element);
    const svg = element.closest("svg");
    const scale = svg ? svg.getBoundingClientRect().width / svg.viewBox.baseVal.width : 1;
    const colour = svg ? style.fill : style.color;
    const ratio = contrast(over(colour, style.opacity * (svg ? style.fillOpacity : 1), paperOf(element)), paperOf(element));
    texts.push({ text: walker.currentNode.data.slice(0, 60), px: parseFloat(style.fontSize) * scale, ratio, in: svg ? "chart" : "page" });
  }
  const marks = [];
  const shapes = ".mark-symbol path, .mark-line path, .role-mark.mark-rule line, .mark-rect.role-mark path, .dot";
  for (const element of document.querySelectorAll(shapes)) {
    if (!element.checkVisibility() || element.closest(".role-axis-grid, .role-axis-tick, .role-axis-domain")) continue;
    const style = getComputedStyle(element);
    const inks = element.matches(".dot")
      ? [over(style.backgroundColor, 1, paperOf(element))]
      : [
          [style.fill, style.opacity * style.fillOpacity],
          [style.stroke, style.opacity * style.strokeOpacity],
        ]
          .filter(([colour]) => colour !== "none")
          .map(([colour, opacity]) => over(colour, opacity, page));
    marks.push({ mark: element.parentElement.getAttribute("class"), ratio: Math.max(...inks.map((ink) => contrast(ink, page)), 1) });
  }
  const boxes = [...document.querySelectorAll("figure svg")].filter((one) => one.checkVisibility());
  const lost = boxes.flatMap((svg) => {
    const isCut = getComputedStyle(svg).overflow !== "visible";
    const frame = isCut ? svg.getBoundingClientRect() : { left: 0, right: innerWidth };
    return [...svg.querySelectorAll("text")]
      .filter((text) => text.getBoundingClientRect().right > frame.right + 1 || text.getBoundingClientRect().left < frame.left - 1)
      .map((text) => text.textContent);
  });
  const least = (list, key) => list.reduce((one, other) => (other[key] < one[key] ? other : one), { [key]: Infinity });
  const sides = boxes.map((one) => one.getBoundingClientRect()).map((box) => `${Math.round(box.left)}+${Math.round(box.width)}`);
  const ids = [...document.querySelectorAll("[id]")].map((one) => one.id);
  return {
    overflow: document.documentElement.scrollWidth - innerWidth,
    headings: document.querySelectorAll("h1").length,
    charts: boxes.length,
    sides: [...new Set(sides)],
    texts: texts.length,
    marks: marks.length,
    smallest: least(texts, "px"),
    faintest: least(texts, "ratio"),
    faintestMark: least(marks, "ratio"),
    lost,
    twice: ids.filter((one, place) => ids.indexOf(one) !== place),
  };
}
