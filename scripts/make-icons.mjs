// `npm run icons`: derives the PNG files in assets/icons from the SVG sources, with rsvg-convert or else with Chromium.
import './lib/check-node.mjs';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import process from 'node:process';
import { Failure, runMain } from './lib/failure.mjs';
import { root } from './lib/paths.mjs';

const target = join(root, 'assets', 'icons');

/** Small sizes have a source of their own: the large drawing turns to mush there. */
const appSizes = [16, 24, 32, 48, 64, 128, 256, 512, 1024];
const jobs = [
  ...appSizes.map((size) => ({ source: size <= 32 ? 'icon-small.svg' : 'icon.svg', name: `icon-${size}.png`, size })),
  ...['tray-asleep', 'tray-awake', 'tray-asleep-template', 'tray-awake-template'].flatMap((tray) => [
    { source: `tray/${tray}.svg`, name: `${tray}.png`, size: 16 },
    { source: `tray/${tray}.svg`, name: `${tray}@2x.png`, size: 32 },
  ]),
];

const onPath = (names) => {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) => existsSync(path));
};

function withRsvg(program) {
  for (const { source, name, size } of jobs) {
    const args = ['-w', `${size}`, '-h', `${size}`, join(root, 'assets', source), '-o', join(target, name)];
    const { status, stderr } = spawnSync(program, args, { encoding: 'utf8' });
    if (status !== 0) throw new Failure(`rsvg-convert failed on ${source}: ${stderr.trim()}`);
  }
}

async function withChromium(executablePath) {
  const { chromium } = await import('playwright-core');
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
  try {
    for (const { source, name, size } of jobs) {
      const page = await browser.newPage({ viewport: { width: size, height: size } });
      const picture = Buffer.from(readFileSync(join(root, 'assets', source))).toString('base64');
      await page.setContent(
        `<style>*{margin:0}img{display:block}</style><img width=${size} height=${size} src="data:image/svg+xml;base64,${picture}">`,
      );
      writeFileSync(join(target, name), await page.screenshot({ omitBackground: true }));
      await page.close();
    }
  } finally {
    await browser.close();
  }
}

await runMain(async () => {
  mkdirSync(target, { recursive: true });
  const rsvg = onPath(['rsvg-convert', 'rsvg-convert.exe']);
  const browser = process.env.CHROME ?? onPath(['chromium', 'chromium-browser', 'google-chrome']);
  if (rsvg) withRsvg(rsvg);
  else if (browser) await withChromium(browser);
  else {
    throw new Failure(
      'Neither rsvg-convert nor Chromium was found; one of them draws the icons ' +
        '(apt-get install librsvg2-bin, or set CHROME to a Chromium).',
    );
  }
  console.log(`${jobs.length} pictures in assets/icons, drawn with ${rsvg ? 'rsvg-convert' : 'Chromium'}`);
  return 0;
});
