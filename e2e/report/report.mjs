// Looks at report pages as people do: in a browser, light and dark, on a phone
// and on paper. Usage: report.mjs CHROMIUM OUT PAGE...; pictures go to OUT.
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';
import puppeteer from 'puppeteer-core';

const [chromium, out, ...pages] = process.argv.slice(2);
const axe = fs.readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const looks = [
  { name: 'light', width: 1280, scheme: 'light' },
  { name: 'dark', width: 1280, scheme: 'dark' },
  { name: 'phone', width: 375, scheme: 'light' },
];

let passed = 0;
let failed = 0;
function check(what, problems) {
  if (problems.length === 0) {
    passed++;
    return;
  }
  failed++;
  console.log(`${what}:\n  ${problems.join('\n  ')}`);
}

// Runs in the page: elements that reach beyond the window.
function overflow() {
  const width = document.documentElement.clientWidth;
  const beyond = [...document.querySelectorAll('body *')]
    .filter((e) => !e.closest('svg, .skip') || e.tagName === 'svg')
    .filter((e) => e.getBoundingClientRect().width && e.getBoundingClientRect().right > width + 0.5)
    .map((e) => `${e.tagName} ends at ${Math.round(e.getBoundingClientRect().right)} of ${width}`);
  return document.documentElement.scrollWidth > width ? ['the page scrolls sideways', ...beyond] : beyond;
}

// Runs in the page: letters of drawings that leave them, leave their box, or touch.
function drawings() {
  const found = [];
  for (const svg of document.querySelectorAll('svg')) {
    const frame = svg.getBoundingClientRect();
    const texts = [...svg.querySelectorAll('text')].map((t) => [t.textContent, t.getBoundingClientRect()]);
    texts.forEach(([text, a], i) => {
      if (a.left < frame.left - 1 || a.right > frame.right + 1 || a.top < frame.top - 1 || a.bottom > frame.bottom + 2) {
        found.push(`"${text}" leaves its drawing`);
      }
      for (const [other, b] of texts.slice(i + 1)) {
        const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (across > 1 && down > 3) found.push(`"${text}" touches "${other}"`);
      }
    });
    for (const g of svg.matches('.topology') ? svg.querySelectorAll('g') : []) {
      const box = g.querySelector(':scope > rect').getBoundingClientRect();
      for (const t of g.querySelectorAll('text')) {
        if (t.getBoundingClientRect().right > box.right - 2) found.push(`"${t.textContent}" leaves its box`);
      }
    }
  }
  return found;
}

async function look(browser, file, { name, width, scheme }) {
  const label = `${path.basename(file, '.html')} ${name}`;
  const page = await browser.newPage();
  const asked = [];
  page.on('request', (r) => /^(file|data):/.test(r.url()) || asked.push(r.url()));
  const said = [];
  page.on('console', (m) => said.push(m.text()));
  await page.setViewport({ width, height: 900 });
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
  await page.goto(`file://${path.resolve(file)}`);
  await page.screenshot({ path: path.join(out, `${label.replace(' ', '-')}.png`), fullPage: true });
  check(`${label}: closed`, await page.evaluate(overflow));
  check(`${label}: drawings`, await page.evaluate(drawings));

  // A number leads to its figure, which opens; by keyboard as by mouse.
  const link = await page.$('#memory td a.n');
  const target = (await link.evaluate((a) => a.getAttribute('href'))).slice(1);
  await link.focus();
  await page.keyboard.press('Enter');
  const seen = await page.evaluate((id) => document.getElementById(id).checkVisibility(), target);
  check(`${label}: links`, seen ? [] : [`${target} stays closed when it is followed`]);

  await page.evaluate(() => document.querySelectorAll('details').forEach((d) => { d.open = true; }));
  check(`${label}: opened`, await page.evaluate(overflow));
  await page.evaluate(axe);
  check(`${label}: accessibility`, await page.evaluate(async () => {
    const result = await axe.run(document);
    return result.violations.map((v) => `${v.id}: ${v.help}, at ${v.nodes[0].target}`);
  }));
  check(`${label}: requests`, asked);
  check(`${label}: console`, said);
  await page.close();
}

async function print(browser, file) {
  const page = await browser.newPage();
  await page.goto(`file://${path.resolve(file)}`);
  const name = path.join(out, `${path.basename(file, '.html')}.pdf`);
  const margin = { top: '12mm', bottom: '12mm', left: '11mm', right: '11mm' };
  await page.pdf({ path: name, format: 'A4', printBackground: true, margin });
  check(`${name}: print`, fs.statSync(name).size > 20000 ? [] : ['next to nothing is printed']);
  await page.close();
}

const browser = await puppeteer.launch({
  executablePath: chromium,
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});
try {
  for (const file of pages) {
    for (const how of looks) await look(browser, file, how);
    await print(browser, file);
  }
} finally {
  await browser.close();
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);
