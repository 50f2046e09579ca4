import { describe, expect, it } from 'vitest';
import {
  runningMessage,
  siblings,
  visiblePath,
  withMessage,
  type MessageTree,
} from '../../../src/renderer/state/message-tree.ts';
import { message } from './fixtures.ts';

const all = [
  message({ id: 'q', role: 'user' }),
  message({ id: 'a1', parentId: 'q', createdAt: 1 }),
  message({ id: 'a2', parentId: 'q', createdAt: 2 }),
  message({ id: 'q2', role: 'user', parentId: 'a2', createdAt: 3 }),
];
const tree = (leafId: string | null): MessageTree => ({
  byId: Object.fromEntries(all.map((one) => [one.id, one])),
  leafId,
});
const ids = (list: readonly { readonly id: string }[]): string[] => list.map(({ id }) => id);

describe('message tree', () => {
  it('shows only the branch that ends at the leaf (bug: both versions on screen)', () => {
    expect(ids(visiblePath(tree('q2')))).toEqual(['q', 'a2', 'q2']);
    expect(ids(visiblePath(tree('a1')))).toEqual(['q', 'a1']);
    expect(visiblePath(tree(null))).toEqual([]);
  });

  it('ends on a broken or circular chain instead of looping (bug: the page hangs)', () => {
    const circle = {
      byId: { x: message({ id: 'x', parentId: 'y' }), y: message({ id: 'y', parentId: 'x' }) },
      leafId: 'x',
    };
    expect(ids(visiblePath(circle))).toEqual(['y', 'x']);
    expect(visiblePath({ byId: {}, leafId: 'gone' })).toEqual([]);
  });

  it('counts versions at the same place, oldest first (bug: 1 / 2 shown for the newer one)', () => {
    expect(ids(siblings(tree('a1'), message({ id: 'a1', parentId: 'q', createdAt: 1 })))).toEqual(['a1', 'a2']);
    expect(ids(siblings(tree('q2'), message({ id: 'q2', role: 'user', parentId: 'a2' })))).toEqual(['q2']);
  });

  it('finds the running answer on any branch (bug: a second message sent while one is written)', () => {
    expect(runningMessage(tree('a1'))).toBeNull();
    const busy = withMessage(tree('a1'), message({ id: 'a3', parentId: 'q', status: 'streaming', streamId: 's' }));
    expect(runningMessage(busy)?.id).toBe('a3');
  });
});
