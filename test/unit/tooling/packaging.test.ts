import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../../..');
// What electron-builder itself reads and validates with; it brings both along.
const builder = createRequire(createRequire(import.meta.url).resolve('electron-builder/package.json'));
const library = createRequire(builder.resolve('app-builder-lib/package.json'));

type Validate = ((value: unknown) => boolean) & { readonly errors?: unknown };
type Config = {
  readonly files: readonly string[];
  readonly asar: boolean;
  readonly asarUnpack: readonly string[];
  readonly electronFuses: Readonly<Record<string, boolean>>;
  readonly fileAssociations: readonly { readonly ext: string }[];
  readonly linux: {
    readonly icon: string;
    readonly target: readonly string[];
    readonly executableArgs: readonly string[];
  };
  readonly mac: { readonly icon: string; readonly target: readonly string[] };
  readonly win: { readonly icon: string; readonly target: readonly string[] };
};

const yaml = library('js-yaml') as { readonly load: (text: string) => unknown };
const config = yaml.load(readFileSync(join(root, 'electron-builder.yml'), 'utf8')) as Config;

describe('electron-builder.yml', () => {
  it('is what electron-builder accepts (bug: found out when a release is built)', () => {
    const { default: Ajv } = library('ajv') as {
      readonly default: new (options: object) => { compile(schema: unknown): Validate };
    };
    const schema = JSON.parse(readFileSync(library.resolve('app-builder-lib/scheme.json'), 'utf8')) as unknown;
    const validate = new Ajv({ strict: false, allErrors: true, validateFormats: false }).compile(schema);
    const valid = validate(config);
    expect(validate.errors ?? []).toEqual([]);
    expect(valid).toBe(true);
    expect(validate({ ...config, fuses: {} })).toBe(false);
  });

  it('switches everything off in Electron that is not needed (bug: the program runs any script as Node)', () => {
    expect(config.electronFuses).toEqual({
      runAsNode: false,
      enableCookieEncryption: true,
      enableNodeOptionsEnvironmentVariable: false,
      enableNodeCliInspectArguments: false,
      enableEmbeddedAsarIntegrityValidation: true,
      onlyLoadAppFromAsar: true,
      loadBrowserProcessSpecificV8Snapshot: false,
      grantFileProtocolExtraPrivileges: false,
    });
  });

  it('keeps outside of the archive what native code opens', () => {
    expect(config.asar).toBe(true);
    expect(config.asarUnpack).toEqual([
      'node_modules/node-llama-cpp/**',
      'node_modules/@node-llama-cpp/**',
      'build/native/**',
      'assets/models/*.gguf',
    ]);
  });

  it('lists files once, with what to take first (bug: a list of exclusions alone packs the whole repository)', () => {
    for (const part of [config, config.linux, config.mac, config.win]) {
      const files = 'files' in part ? part.files : [];
      if (files.length > 0) expect(files[0]?.startsWith('!')).toBe(false);
    }
    expect(config.files).toContain('!node_modules/@node-llama-cpp/!(${os}-${arch}|${os}-${arch}-*)/**');
  });

  it('has the installers, the icons, the file type and the flag against idle garbage collection', () => {
    expect([config.linux.target, config.win.target, config.mac.target]).toEqual([
      ['AppImage', 'deb'],
      ['nsis'],
      ['dmg'],
    ]);
    for (const { icon } of [config.linux, config.mac, config.win])
      expect(existsSync(join(root, icon)), icon).toBe(true);
    expect(config.fileAssociations.map(({ ext }) => ext)).toEqual(['gguf']);
    expect(config.linux.executableArgs).toEqual(['--js-flags=--no-memory-reducer']);
  });

  it('starts the file that the build makes', () => {
    const { main } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { main: string };
    expect(main).toBe('build/app/main/main.js');
    expect(readFileSync(join(root, 'vite.main.config.ts'), 'utf8')).toContain("'main'");
  });
});
