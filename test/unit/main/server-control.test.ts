import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ownAddresses, placeOf, silentLogger } from '../../../src/main/base/index.ts';
import { ok, type ExchangeEntry, type ServerStatus } from '../../../src/main/contract/index.ts';
import { RequestLog } from '../../../src/main/services/index.ts';
import { serverAddresses } from '../../../src/main/services/server-addresses.ts';
import { clientKind } from '../../../src/main/server/exchange-entry.ts';
import { SettingsFile } from '../../../src/main/store/index.ts';
import { unwrap } from '../../support/engine.ts';
import { FakeServer, realServerServices, type ServerServicesChanges } from '../../support/server-services.ts';
import { temporaryFolder } from '../../support/temp-folder.ts';

async function open(changes: ServerServicesChanges = {}, folder = temporaryFolder()) {
  const ensureOwner = () => Promise.resolve(ok());
  const common = { logger: silentLogger, onNotice: () => undefined, ensureOwner };
  const settings = await SettingsFile.open({ path: join(folder, 'settings.json'), ...common });
  const { control, serve } = await realServerServices(folder, settings, changes);
  const server = new FakeServer();
  serve(server);
  const heard: ServerStatus[] = [];
  control.on((status) => heard.push(status));
  return { control, server, settings, heard, folder };
}

describe('server control', () => {
  it('remembers on and off, host and port over a restart', async () => {
    const { control, folder } = await open();
    unwrap(await control.begin());
    unwrap(await control.setApiKey('sesame'));
    unwrap(await control.configure({ host: '0.0.0.0', port: 9000 }));
    unwrap(await control.stop());
    const again = await open({}, folder);
    expect(unwrap(await again.control.begin())).toMatchObject({
      on: false,
      host: '0.0.0.0',
      port: 9000,
      apiKey: 'kept',
    });
    expect(again.server).toMatchObject({ opened: ['0.0.0.0:9000'], answering: false, key: 'sesame' });
    expect(readFileSync(join(folder, 'settings.json'), 'utf8')).not.toContain('sesame');
  });

  it('the command line wins at the start, and is shown to have done so (bug: a saved port that hides --port)', async () => {
    const { control, settings, folder } = await open();
    unwrap(await control.configure({ port: 9000 }));
    unwrap(await control.stop());
    const flags = { port: 7000, 'api-key': 'from-the-line' };
    const again = await open({ flags, given: ['port', 'serve', 'api-key'] }, folder);
    const status = unwrap(await again.control.begin());
    expect(status).toMatchObject({ on: true, port: 7000, apiKey: 'command_line' });
    expect(status.commandLine).toEqual({ host: false, port: true, on: true });
    expect(again.server.key).toBe('from-the-line');
    expect(await again.control.setApiKey('other')).toMatchObject({ error: { code: 'invalid_input' } });
    expect(settings.value.serverPort).toBe(9000);
  });

  it('an address that cannot be had leaves the old one, and says why', async () => {
    const { control, server, settings, heard } = await open();
    unwrap(await control.begin());
    server.refuse = '127.0.0.1:9000';
    expect(await control.configure({ port: 9000 })).toMatchObject({ error: { code: 'port_taken' } });
    expect(heard.at(-1)).toMatchObject({ on: true, port: 8089, error: { code: 'port_taken' } });
    expect(settings.value.serverPort).toBeNull();
    unwrap(await control.configure({ port: 9001 }));
    expect(heard.at(-1)).toMatchObject({ port: 9001, error: null });
  });

  it('beyond this computer it needs a key, and the key stays while it is needed', async () => {
    const { control, server } = await open();
    unwrap(await control.begin());
    expect(await control.configure({ host: '0.0.0.0' })).toMatchObject({ error: { code: 'api_key_required' } });
    const key = unwrap(await control.generateApiKey());
    expect(key).toMatch(/^dm-[\w-]{43}$/);
    expect([server.key, control.apiKey()]).toEqual([key, key]);
    unwrap(await control.configure({ host: '0.0.0.0' }));
    expect(await control.setApiKey(null)).toMatchObject({ error: { code: 'api_key_required' } });
    unwrap(await control.configure({ host: '127.0.0.1' }));
    unwrap(await control.setApiKey(null));
    expect(server.key).toBeNull();
  });

  it('a key that cannot be read opens nothing (bug: a server without a key because its file was sealed)', async () => {
    const seal = {
      seal: (text: string) => [...text].reverse().join(''),
      open: (text: string) => [...text].reverse().join(''),
    };
    const { control, folder } = await open({ cipher: () => seal });
    unwrap(await control.setApiKey('sesame'));
    expect(control.status().keyStore).toBe('system');
    const headless = await open({}, folder);
    expect(unwrap(await headless.control.begin())).toMatchObject({ apiKey: 'unreadable', keyStore: 'file' });
    expect(headless.server.key).not.toBeNull();
    expect(headless.server.key).not.toBe('sesame');
  });
});

describe('addresses', () => {
  const own = ['192.168.1.20', 'fd00::5'];
  const of = (host: string, place: ServerStatus['place'] = 'local') =>
    serverAddresses({ host, port: 8089 }, own, place).map(({ url, from }) => `${from} ${url}`);

  it('say from where each works (bug: an address of WSL shown as one for the network)', () => {
    expect(of('127.0.0.1')).toEqual(['this http://127.0.0.1:8089']);
    expect(of('0.0.0.0')).toEqual(['this http://127.0.0.1:8089', 'network http://192.168.1.20:8089']);
    expect(of('::')).toContain('network http://[fd00::5]:8089');
    expect(of('192.168.1.20')).toEqual(['network http://192.168.1.20:8089']);
    expect(of('0.0.0.0', 'wsl')).toEqual([
      'this http://127.0.0.1:8089',
      'windows http://localhost:8089',
      'windows http://192.168.1.20:8089',
    ]);
  });

  it('leave out loopback and addresses that need a zone', () => {
    const entry = (address: string, internal = false) => ({
      address,
      internal,
      family: address.includes(':') ? 'IPv6' : 'IPv4',
    });
    const interfaces = {
      lo: [entry('127.0.0.1', true)],
      eth0: [entry('fe80::1'), entry('fd00::5'), entry('10.0.0.2')],
    };
    expect(ownAddresses(() => interfaces as never)).toEqual(['10.0.0.2', 'fd00::5']);
  });

  it('know WSL and SSH by what the system tells', () => {
    expect(placeOf({ SSH_CONNECTION: '1.2.3.4 5 6.7.8.9 22' }, () => '')).toBe('ssh');
    expect(placeOf({}, () => 'Linux version 5.15.90.1-microsoft-standard-WSL2')).toBe('wsl');
    expect(placeOf({}, () => 'Linux version 6.1.0-18-amd64')).toBe('local');
  });

  it.each([
    ['127.0.0.1', 'this'],
    ['::1', 'this'],
    ['::ffff:192.168.1.9', 'network'],
    ['172.20.0.3', 'network'],
    ['fd12::1', 'network'],
    ['172.32.0.1', 'internet'],
    ['2a00::1', 'internet'],
  ])('%s is from %s', (address, kind) => {
    expect(clientKind(address)).toBe(kind);
  });
});

describe('request log', () => {
  const entry = (id: number, running = false): ExchangeEntry => ({
    ...{ id, startedAt: id, method: 'POST', route: '/v1/chat/completions', model: null, client: 'this' },
    ...{ status: running ? null : 200, running, aborted: false, promptTokens: null, answerTokens: null },
    ...{ queuedMs: null, prefillMs: null, decodeMs: null, totalMs: running ? null : 1 },
  });

  it('keeps the last 500, tells only who watches, and clears all but what runs', () => {
    let now = 0;
    const log = new RequestLog({ elapsed: () => now });
    let heard = 0;
    log.on(() => (heard += 1));
    log.add(entry(0, true));
    for (let id = 1; id <= 600; id++) log.add(entry(id));
    expect(heard).toBe(0);
    const { entries, leaseMs } = log.watch();
    expect(entries).toHaveLength(500);
    expect([entries[0]?.id, entries.at(-1)?.id]).toEqual([0, 600]);
    log.add(entry(0));
    expect(heard).toBe(1);
    log.add(entry(601, true));
    log.clear();
    expect(log.watch().entries.map(({ id }) => id)).toEqual([601]);
    now += leaseMs;
    log.add(entry(602));
    expect(heard).toBe(3);
  });
});
