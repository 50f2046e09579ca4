// `npm run test:electron`: the desktop app in a real Electron, where one is installed and can show a window.
import './lib/check-node.mjs';
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { runMain } from './lib/failure.mjs';
import { engineNodeFlags } from './lib/node-flags.mjs';
import { root } from './lib/paths.mjs';
import { electronProgram, whyNoElectron } from './lib/shell-choice.mjs';
import { prepareOrFail } from './prepare.mjs';

await runMain(async () => {
  const why = whyNoElectron();
  if (why !== null) {
    console.log(`skipped: ${why}`);
    return 0;
  }
  await prepareOrFail();
  const { _electron } = await import('playwright-core');
  const folder = mkdtempSync(join(tmpdir(), 'dormouse-electron-'));
  const args = [root, `--js-flags=${engineNodeFlags.join(' ')}`, '--data-dir', folder, '--port', '0'];
  const app = await _electron.launch({ executablePath: electronProgram(), args });
  try {
    await check(app);
  } finally {
    await app.close();
    rmSync(folder, { recursive: true, force: true });
  }
  console.log('passed: the window answers, is closed off, hides and comes back');
  return 0;
});

/** What the three seams of the other tests cannot see: that Electron itself does what its fake does. */
async function check(app) {
  const page = await app.firstWindow();
  const message = page.getByRole('textbox', { name: 'Message' });
  await message.waitFor();
  assert.equal(await page.evaluate(() => location.href), 'app://dormouse/', 'the page has an origin of its own');
  assert.deepEqual(await page.evaluate(() => Object.keys(window.dormouse).sort()), ['on', 'request']);
  assert.equal(await page.evaluate(() => typeof window.require), 'undefined', 'the page has no Node');
  const reached = await page.evaluate(() =>
    fetch('https://example.org/').then(
      () => true,
      () => false,
    ),
  );
  assert.equal(reached, false, 'the page reaches nothing outside');
  await page
    .getByRole('status', { name: 'Engine state' })
    .filter({ hasText: /Ready|Asleep/ })
    .waitFor();
  await message.fill('What is 8 plus 6, please?');
  await message.press('Enter');
  await page.getByRole('article', { name: 'Answer' }).filter({ hasText: '14' }).waitFor();
  const visible = () =>
    app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows().map((each) => each.isVisible()));
  await app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0].close());
  assert.equal((await visible()).length, 1, 'closing keeps the window');
  await app.evaluate(
    ({ app: electron }) => void electron.emit('second-instance', {}, [], '/', { model: null, show: true }),
  );
  assert.deepEqual(await visible(), [true], 'a second launch shows it again');
}
