import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { Failure } from '../failure.mjs';
import { engineNodeFlags } from '../node-flags.mjs';
import { appFolder, root } from '../paths.mjs';

/** Linux counts CPU time of processes in these, by default. */
const ticksPerSecond = 100;
const settleMs = 15_000;
/** The charts show so much. */
const chartMs = 60_000;
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * What the Monitor costs, as the difference to an empty page of the same browser open as long: hidden, visible while the
 * engine sleeps, visible while it writes. Shares of one core, of the browser's processes together and of Dormouse's.
 * @returns `{ seconds, rows }` for `--json`.
 */
export async function monitorBench({ seconds = 60 } = {}) {
  if (process.platform !== 'linux') throw new Failure('This bench reads /proc, so it needs Linux.');
  const { chromium } = await import('playwright-core');
  const executablePath = process.env.CHROME || '/usr/bin/chromium';
  const quiet = ['--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run'];
  const server = await chromium.launchServer({ executablePath, args: ['--no-sandbox', '--disable-gpu', ...quiet] });
  const folder = await mkdtemp(join(tmpdir(), 'dormouse-bench-'));
  let app = null;
  try {
    const browser = await chromium.connect(server.wsEndpoint());
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    const measure = (name, work) => costs(name, [server.process().pid, app?.pid], seconds, work);
    const rows = [await measure('empty page')];
    // Not before: its link is good for a minute.
    app = startApp(folder);
    const link = await app.link;
    await page.goto(link);
    await page.getByRole('textbox', { name: 'Message' }).waitFor();
    await page.getByRole('button', { name: 'Monitor' }).first().click();
    rows.push(await measure('Monitor visible, just asleep'));
    // Until the load has left the charts: they stand still then.
    console.log('  waiting until nothing moves');
    await sleep(chartMs);
    rows.push(await measure('Monitor visible, asleep, charts at rest'));
    await see(page, 'hidden');
    rows.push(await measure('Monitor hidden'));
    await see(page, 'visible');
    rows.push(
      await measure('Monitor visible, engine generating', (until) => keepAnswering(new URL(link).origin, until)),
    );
    print(rows, seconds);
    return { seconds, rows };
  } finally {
    await server.close();
    app?.stop();
    await app?.ended;
    rmSync(folder, { recursive: true, force: true });
  }
}

function startApp(folder) {
  const args = [join(appFolder, 'main', 'cli.js'), '--serve', '--port', '0', '--data-dir', folder];
  const child = spawn(process.execPath, [...engineNodeFlags, ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const link = new Promise((resolve, reject) => {
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
      const found = /http:\S+#t=\S+/.exec(text);
      if (found) resolve(found[0]);
    });
    child.once('exit', () => reject(new Failure(`Dormouse ended: ${text.trim()}`)));
  });
  return { pid: child.pid, link, ended, stop: () => child.kill('SIGTERM') };
}

/** A headless browser calls every page visible; the page hears what a hidden tab would. */
function see(page, state) {
  return page.evaluate((value) => {
    Object.defineProperty(document, 'visibilityState', { value, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  }, state);
}

async function keepAnswering(origin, until) {
  const body = JSON.stringify({
    messages: [{ role: 'user', content: 'Tell me about the dormouse.' }],
    temperature: 1.5,
    max_tokens: 256,
  });
  const headers = { 'content-type': 'application/json' };
  while (Date.now() < until)
    await (await fetch(`${origin}/v1/chat/completions`, { method: 'POST', headers, body })).text();
}

async function costs(name, [browser, app], seconds, work) {
  console.log(`  ${name}, ${seconds} s`);
  await sleep(settleMs);
  const spent = () => [ticks(tree(browser)), app === undefined ? 0 : ticks([app])];
  const before = spent();
  const started = performance.now();
  const until = Date.now() + seconds * 1000;
  await (work?.(until) ?? sleep(seconds * 1000));
  const elapsed = (performance.now() - started) / 1000;
  const shares = spent().map((now, index) => (now - before[index]) / ticksPerSecond / elapsed);
  return { name, browser: shares[0], app: shares[1] };
}

/** Process ids of a process and all that it has started. */
function tree(pid) {
  const children = (parent) =>
    readdirSync('/proc')
      .filter((entry) => /^\d+$/.test(entry))
      .map(Number)
      .filter((id) => stat(id)?.[1] === String(parent));
  return [pid, ...children(pid).flatMap(tree)];
}

/** Fields after the name, which may hold spaces: state, parent, … */
function stat(pid) {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1).split(' ');
  } catch {
    return undefined;
  }
}

function ticks(pids) {
  const of = (fields) => (fields === undefined ? 0 : Number(fields[11]) + Number(fields[12]));
  return pids.reduce((sum, pid) => sum + of(stat(pid)), 0);
}

function print(rows, seconds) {
  const percent = (share) => `${(share * 100).toFixed(2)} %`.padStart(9);
  console.log(`\nshares of one core over ${seconds} s          browser  Dormouse   browser beyond the empty page`);
  for (const { name, browser, app } of rows) {
    console.log(`${name.padEnd(40)}${percent(browser)} ${percent(app)}  ${percent(browser - rows[0].browser)}`);
  }
}
