import { describe, expect, it } from 'vitest';
import { answerDetails, answerRemarks, answerStats } from '../../../src/renderer/features/chat/answer-facts.ts';
import { engineLabel } from '../../../src/renderer/features/chat/engine-label.ts';
import { formatPercent, formatSeconds, formatSpeed } from '../../../src/renderer/lib/format.ts';
import { groupByDay } from '../../../src/renderer/lib/group-by-day.ts';
import { safeHref } from '../../../src/renderer/lib/safe-href.ts';
import { message, status, timings } from './fixtures.ts';

describe('engineLabel', () => {
  it('says every state in words (bug: a state without a label, or an old number in it)', () => {
    expect(engineLabel(null)).toBe('Connecting');
    expect(engineLabel(status({ state: 'empty', model: null }))).toBe('No model');
    expect(engineLabel(status({ state: 'loading', loadProgress: 0.42 }))).toBe('Loading 42 %');
    expect(engineLabel(status({ state: 'loading' }))).toBe('Loading');
    expect(engineLabel(status())).toBe('Ready');
    expect(engineLabel(status({ state: 'prefill', prefill: { done: 512, total: 2300 } }))).toBe(
      'Reading the prompt 512/2,300',
    );
    expect(engineLabel(status({ state: 'prefill' }))).toBe('Reading the prompt');
    expect(engineLabel(status({ state: 'generating', tokensPerSecond: 41.3 }))).toBe('Generating · 41 tok/s');
    expect(engineLabel(status({ state: 'generating' }))).toBe('Generating');
    expect(engineLabel(status({ state: 'unloading' }))).toBe('Unloading');
    expect(engineLabel(status({ state: 'failed' }))).toBe('Failed');
  });
});

describe('answer facts', () => {
  it('gives tokens, speed and first token (bug: a null printed)', () => {
    expect(answerStats(timings())).toEqual(['182 tokens', '41.3 tok/s', 'first token 0.21 s']);
    const none = timings({ predictedTokens: 1, tokensPerSecond: null, timeToFirstTokenMs: null });
    expect(answerStats(none)).toEqual(['1 token']);
  });

  it('tells evaluated from reused prompt tokens (bug: the KV cache seems unused)', () => {
    expect(answerDetails(timings(), 'Mini')).toContain('40 evaluated, 60 reused from the KV cache');
  });

  it('says how an answer ended unless it ended by itself (bug: a cut answer looks complete)', () => {
    const ended = (stopReason: 'end' | 'max_tokens' | 'context_full' | 'stopped') =>
      answerRemarks(message({ id: 'a', stopReason }));
    expect(ended('end')).toEqual([]);
    expect(ended('max_tokens')).toEqual(['length limit']);
    expect(ended('context_full')).toEqual(['context is full']);
    expect(ended('stopped')).toEqual(['stopped by you']);
    expect(answerRemarks(message({ id: 'a', status: 'stopped' }))).toEqual(['stopped by you']);
    expect(answerRemarks(message({ id: 'a', timings: timings({ turnsDropped: 3 }) }))).toEqual([
      '3 earlier turns no longer fit the context',
    ]);
  });
});

describe('formats', () => {
  it('rounds without jumping over a unit (bug: 1.00 s, 10.0 s, 60 s)', () => {
    const shown = [214, 996, 3400, 9960, 59_700, 125_000].map(formatSeconds);
    expect(shown).toEqual(['0.21 s', '1.0 s', '3.4 s', '10 s', '1 min 0 s', '2 min 5 s']);
  });

  it('shows 100 % only at the end (bug: done at 99.6 %)', () => {
    expect([0, 0.29, 0.996, 1].map(formatPercent)).toEqual(['0 %', '29 %', '99 %', '100 %']);
  });

  it('keeps fast models readable (bug: 1638.4 tok/s)', () => {
    expect([8.04, 1638.4].map(formatSpeed)).toEqual(['8.0', '1,638']);
  });
});

describe('groupByDay', () => {
  it('goes by local calendar days, not by 24 hours (bug: last night shown as today)', () => {
    const now = new Date(2026, 2, 29, 9).getTime();
    const times = [
      new Date(2026, 2, 29, 0, 1),
      new Date(2026, 2, 28, 23, 59),
      new Date(2026, 2, 23),
      new Date(2026, 2, 22),
    ];
    const groups = groupByDay(
      times.map((date) => date.getTime()),
      (time) => time,
      now,
    );
    expect(groups.map(({ group, items }) => [group, items.length])).toEqual([
      ['today', 1],
      ['yesterday', 1],
      ['week', 1],
      ['older', 1],
    ]);
  });
});

describe('safeHref', () => {
  it('sees through tricks in the scheme (bug: a tab inside "java script:" passes)', () => {
    for (const href of [
      'java\tscript:alert(1)',
      ' javascript:alert(1)',
      'JAVASCRIPT:x',
      '//example.org',
      'blob:x',
      '',
    ]) {
      expect(safeHref(href), href).toBeNull();
    }
    expect(safeHref('HTTPS://example.org')).toBe('HTTPS://example.org');
  });
});
