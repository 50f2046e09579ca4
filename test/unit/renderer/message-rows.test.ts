import { describe, expect, it } from 'vitest';
import { modelChoices } from '../../../src/renderer/features/chat/model-choices.ts';
import { MessagePieces } from '../../../src/renderer/features/chat/message-pieces.ts';
import { estimatedHeight, messageRows } from '../../../src/renderer/features/chat/message-rows.ts';
import { linePieces } from '../../../src/renderer/lib/line-pieces.ts';
import { message } from './fixtures.ts';

const question = message({ id: 'q', role: 'user', text: 'x'.repeat(50_000) });
const long = message({ id: 'a', parentId: 'q', text: 'A paragraph of text.\n\n'.repeat(1000) });

describe('messageRows', () => {
  it('makes several rows of a long answer, one of everything else (bug: a megabyte is drawn at once)', () => {
    const rows = messageRows([question, long], new MessagePieces(), null);
    expect(rows.length).toBe(7);
    expect(rows.slice(0, 3).map(({ key }) => key)).toEqual(['q', 'a', 'a/1']);
    expect(new Set(rows.map(({ key }) => key)).size).toBe(rows.length);
    expect(rows.at(-1)).toMatchObject({ index: 5, count: 6 });
  });

  it('counts the pieces of a running answer by its stream (bug: a long running answer in one row)', () => {
    const running = message({ id: 'a', parentId: 'q', status: 'streaming', streamId: 's' });
    expect(messageRows([running], new MessagePieces(), 3).map(({ key }) => key)).toEqual(['a', 'a/1', 'a/2']);
    expect(messageRows([running], new MessagePieces(), null).length).toBe(1);
  });

  it('estimates heights by the length of the text (bug: dozens of long rows drawn to measure them)', () => {
    const [first, second] = messageRows([message({ id: 'b', text: 'Yes.' }), long], new MessagePieces(), null);
    expect(estimatedHeight(first!)).toBeLessThan(150);
    expect(estimatedHeight(second!)).toBeGreaterThan(500);
  });
});

describe('linePieces', () => {
  it('cuts at line ends, whole characters otherwise (bug: an extra line break or a broken emoji)', () => {
    const lines = 'a line of text\n'.repeat(100);
    expect(linePieces(lines, 40).join('\n').trimEnd()).toBe(lines.trimEnd());
    const mice = '🐭'.repeat(333);
    expect(linePieces(mice, 25).join('')).toBe(mice);
    for (const piece of linePieces(mice, 25)) expect(piece).not.toMatch(/\p{Surrogate}/u);
  });
});

describe('modelChoices', () => {
  const models = [
    { id: 'builtin', path: '/app/mini.gguf', loaded: true, remote: false },
    { id: 'Qwen3', path: '/m/Qwen3.gguf', loaded: false, remote: false },
    { id: 'box/big', path: 'remote:r1/big', loaded: false, remote: true },
  ];

  it('offers the built-in model by its word and others by their path (bug: a path that moves with the app is saved)', () => {
    expect(modelChoices(models, null)).toEqual([
      { value: 'builtin', label: 'Built-in demo model (loaded)' },
      { value: '/m/Qwen3.gguf', label: 'Qwen3' },
      { value: 'remote:r1/big', label: 'box/big (remote)' },
    ]);
  });

  it('shows the chosen one although main does not know it yet (bug: the field shows another model)', () => {
    expect(modelChoices([], 'C:\\m\\Mine.gguf').at(-1)).toEqual({ value: 'C:\\m\\Mine.gguf', label: 'Mine.gguf' });
  });
});
