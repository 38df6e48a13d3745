import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reportPage } from '../../load/report/page.js';
import { chromiumProgram } from '../support/programs.js';
import { sampleRun } from './sample-run.js';

const program = chromiumProgram();
if (!program)
  console.warn('The report page is not looked at: no Chromium here (apt-get install chromium, or set CHROMIUM_BIN).');

interface Seen {
  sideways: number;
  headings: number;
  charts: number;
  chartsWithoutTable: number;
  smallestText: number;
  broken: number;
  paper: string;
  ink: string;
}

// Runs in the page, where there is a document; a text, because nothing else here knows one.
const look = `(() => {
    const size = (element) => Number.parseFloat(getComputedStyle(element).fontSize);
    // What a chart's text measures on the screen, its own scale included.
    const onScreen = [...document.querySelectorAll('svg text')].map((text) => {
      const svg = text.closest('svg');
      return size(text) * (svg.getBoundingClientRect().width / svg.viewBox.baseVal.width);
    });
    const [paper, ink] = [getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color];
    return {
      sideways: document.documentElement.scrollWidth - innerWidth,
      headings: document.querySelectorAll('section h2').length,
      charts: document.querySelectorAll('figure svg').length,
      chartsWithoutTable: [...document.querySelectorAll('figure')].filter(
        (one) => one.querySelector('svg') && !one.querySelector('table'),
      ).length,
      smallestText: Math.min(...onScreen),
      broken: document.body.innerHTML.match(/NaN|undefined|Infinity/g)?.length ?? 0,
      paper,
      ink,
    };
})()`;

describe.skipIf(!program)('the report page in a browser, from the file system', () => {
  const folder = mkdtempSync(join(tmpdir(), 'firstcome-report-'));
  const address = pathToFileURL(join(folder, 'report.html')).href;
  let browser: Browser;

  beforeAll(async () => {
    writeFileSync(join(folder, 'report.html'), reportPage(sampleRun(2)));
    browser = await chromium.launch({ executablePath: program!, args: ['--no-sandbox'] });
  });
  afterAll(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it.each([
    [1280, 'light'],
    [1280, 'dark'],
    [390, 'light'],
    [390, 'dark'],
  ] as const)(
    'at %i px in %s has no console error, does not scroll sideways, and can be read',
    async (width, colorScheme) => {
      const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
      const complaints: string[] = [];
      page.on('console', (message) => ['error', 'warning'].includes(message.type()) && complaints.push(message.text()));
      page.on('pageerror', (error) => complaints.push(error.message));
      page.on('requestfailed', (request) => complaints.push(request.url()));
      await page.goto(address);
      const seen = (await page.evaluate(look)) as Seen;
      expect(complaints).toEqual([]);
      expect(seen).toMatchObject({ chartsWithoutTable: 0, broken: 0 });
      expect(seen.sideways).toBeLessThanOrEqual(0);
      expect(seen.headings).toBeGreaterThanOrEqual(12);
      expect(seen.charts).toBeGreaterThan(50);
      expect(seen.smallestText).toBeGreaterThanOrEqual(9);
      expect(contrast(seen.paper, seen.ink)).toBeGreaterThan(7);
      await page.close();
    },
  );
});

/** WCAG's contrast of two `rgb(r, g, b)`. */
function contrast(a: string, b: string): number {
  const light = (color: string) => {
    const [r = 0, g = 0, blue = 0] = [...color.matchAll(/\d+/g)].map(([value]) => {
      const part = Number(value) / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * blue;
  };
  const [low, high] = [light(a), light(b)].toSorted((x, y) => x - y);
  return (high! + 0.05) / (low! + 0.05);
}
