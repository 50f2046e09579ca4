import { describe, expect, it } from 'vitest';
import { helpText, readArguments } from '../../../src/main/arguments.ts';
import { defaultFlagValues, flagNames, flagOf } from '../../../src/main/contract/index.ts';

const read = (...argv: string[]) => readArguments(argv, {});

describe('command line', () => {
  it('gives defaults for what is not said', () => {
    expect(read()).toEqual({ kind: 'run', flags: defaultFlagValues, given: new Set() });
  });

  it('reads every kind of value', () => {
    const parsed = read(
      '--serve',
      '--port',
      '0',
      '--gpu=off',
      '--temperature',
      '0.3',
      '--context',
      'auto',
      '--cors-origin',
      'http://a',
      '--cors-origin',
      'http://b',
    );
    expect(parsed).toMatchObject({
      kind: 'run',
      flags: {
        serve: true,
        port: 0,
        gpu: 'off',
        temperature: 0.3,
        context: 'auto',
        'cors-origin': ['http://a', 'http://b'],
      },
    });
  });

  it.each([
    [['--prot', '5'], /--prot.*--port/],
    [['--port', '70000'], /--port "70000".*0 to 65535/],
    [['--port', '1.5'], /--port "1.5".*0 to 65535/],
    [['--port', ''], /--port "".*0 to 65535/],
    [['--port', '0x50'], /--port "0x50"/],
    [['--temperature', 'NaN'], /--temperature "NaN".*0 to 5/],
    [['--temperature', 'Infinity'], /--temperature/],
    [['--gpu', 'amd'], /--gpu "amd".*auto, cuda, vulkan, metal, off/],
    [['--cors-origin', 'notaurl'], /--cors-origin "notaurl".*ORIGIN/],
    [['--cors-origin', 'http://a/path'], /--cors-origin/],
    [['--port'], /--port needs a value/],
    [['--port', '1', '--port', '2'], /--port is given 2 times/],
    [['--serve=yes'], /--serve takes no value/],
    [['model.bin'], /"model.bin" is not a flag/],
    [['--spec', '4'], /--spec is planned/],
    [['--constructor', 'x'], /Unknown flag --constructor/],
  ])('%j is an error that names flag, value and range', (argv, message) => {
    const parsed = read(...argv);
    expect(parsed.kind).toBe('error');
    expect(parsed.kind === 'error' && parsed.messages.join('\n')).toMatch(message);
  });

  it('refuses every planned flag', () => {
    for (const name of flagNames) {
      const flag = flagOf(name);
      if (!flag.planned) continue;
      expect(read(...(flag.type === 'switch' ? [`--${name}`] : [`--${name}`, '1'])).kind, name).toBe('error');
    }
  });

  it('takes the key from the environment, the command line first', () => {
    const environment = { DORMOUSE_API_KEY: 'from-env' };
    expect(readArguments([], environment)).toMatchObject({ flags: { 'api-key': 'from-env' } });
    expect(readArguments(['--api-key', 'said'], environment)).toMatchObject({ flags: { 'api-key': 'said' } });
  });

  it('names every flag in the help, 80 columns wide, without showing a key from the environment', () => {
    const help = helpText();
    for (const name of flagNames) if (flagOf(name).where !== 'panel') expect(help).toContain(`--${name}`);
    expect(help.split('\n').filter((line) => line.length > 80)).toEqual([]);
    expect(read('--help', '--nonsense').kind).toBe('help');
  });

  it('takes a GGUF file without a flag as the model (bug: a double-clicked file is an error)', () => {
    const parsed = read('/some where/m.GGUF');
    expect(parsed.kind === 'run' && parsed.flags.model).toBe('/some where/m.GGUF');
    expect(read('a.gguf', '--model', 'b.gguf').kind).toBe('error');
  });
});
