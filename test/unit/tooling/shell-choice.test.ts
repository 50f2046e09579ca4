import { expect, it } from 'vitest';
import { chooseShell } from '../../../scripts/lib/shell-choice.mjs';

const day = 24 * 60 * 60 * 1000;
const good = {
  args: [],
  node: '22.12.0',
  platform: 'linux',
  environment: { DISPLAY: ':0' },
  uid: 1000,
  electron: 'ready',
  failedAt: null,
  now: 10 * day,
} as const;

it('opens the window where there is one', () => {
  expect(chooseShell(good)).toEqual({ shell: 'electron', why: null });
  expect(chooseShell({ ...good, environment: { WAYLAND_DISPLAY: 'wayland-0' } }).shell).toBe('electron');
  expect(chooseShell({ ...good, platform: 'darwin', environment: {} }).shell).toBe('electron');
});

it('opens it with an older Node too, once its program is there (bug: the browser although Electron is installed)', () => {
  expect(chooseShell({ ...good, node: '20.19.0' }).shell).toBe('electron');
});

it('tries once to fetch it, where that can work', () => {
  expect(chooseShell({ ...good, electron: 'missing' })).toEqual({ shell: 'fetch', why: null });
  expect(chooseShell({ ...good, electron: 'missing', node: '24.0.0' }).shell).toBe('fetch');
  expect(chooseShell({ ...good, electron: 'missing', failedAt: 9 * day - 1 }).shell).toBe('fetch');
  expect(chooseShell({ ...good, electron: 'missing', failedAt: 11 * day }).shell).toBe('fetch');
});

it.each([
  ['no display', { environment: {} }, /no display here\.$/],
  ['SSH', { environment: { SSH_CONNECTION: '1' } }, /no display here \(this is SSH\)\.$/],
  ['root', { uid: 0 }, /root/],
  ['no package', { electron: 'none' }, /not installed/],
  ['an old Node', { electron: 'missing', node: '20.20.2' }, /needs Node\.js 22\.12 .* this is 20\.20\.2/],
  ['22.11', { electron: 'missing', node: '22.11.0' }, /22\.12/],
  ['a failure an hour ago', { electron: 'missing', failedAt: 10 * day - day / 24 }, /could not be downloaded/],
] as const)('goes to the browser and says why in one sentence: %s', (_name, changes, why) => {
  const choice = chooseShell({ ...good, ...changes });
  expect(choice.shell).toBe('browser');
  expect(choice.why).toMatch(why);
  expect(choice.why?.match(/[.]( |$)/g)).toHaveLength(1);
});

it.each(['--serve', '--open', '--help', '-h', '--version'])('says nothing of windows to who asks for %s', (flag) => {
  expect(chooseShell({ ...good, args: ['--port', '0', flag] })).toEqual({ shell: 'browser', why: null });
});
