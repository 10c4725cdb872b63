import { describe, expect, test } from 'vitest';
import type { CheckUnit } from '../chat/check-unit.ts';
import { maskEdits, rewriteBody } from '../chat/rewrite-body.ts';
import { collectNested } from '../judged/collect-texts.ts';
import { escapedTexts } from '../judged/escaped-texts.ts';
import { plainError } from './client-error.ts';
import { settleMasks } from './settle-masks.ts';

const rangeOf = (content: string) => ({ start: 0, end: JSON.stringify(content).length });
const unit = (content: string): CheckUnit => ({
  role: 'tool',
  content,
  place: { kind: 'string', string: rangeOf(content) },
});

/** Settles masks of these units; `again` are the texts that were judged once more, with `mask` as their mask. */
async function settle(units: readonly CheckUnit[], masked: readonly string[], mask = (text: string) => text) {
  const again: string[] = [];
  const settled = await settleMasks(units, masked, async (_, content) => {
    again.push(content);
    return { kind: 'judged', content: mask(content) };
  });
  return { settled, again };
}

/** The text that a string of a body has after these masks. */
function sent(content: string, units: readonly CheckUnit[], contents: readonly string[]): unknown {
  const masks = maskEdits(units, contents);
  if (masks.kind !== 'edits') throw new Error(masks.kind);
  return JSON.parse(Buffer.from(rewriteBody(Buffer.from(JSON.stringify(content)), masks.edits)).toString());
}

describe('masks of a text and of the strings inside of it', () => {
  const content = '{"mail":"to:\\na@b.example","other":"\\ta@b.example"}';
  const units = [unit(content), ...escapedTexts(unit(content))];

  test('if both the strings and the whole text are masked, the masks of the strings are kept and the result is judged again', async () => {
    const masked = ['{"mail":"to:\\[personal data]","other":"[personal data]"}', 'to:\n[x]', '\t[x]'];
    const { settled, again } = await settle(units, masked);
    const expected = '{"mail":"to:\\n[x]","other":"\\t[x]"}';
    if (settled.kind === 'stop') throw new Error('stopped');
    expect(again).toEqual([expected]);
    expect(sent(content, units, settled.contents)).toBe(expected);
  });

  test('a mask of the strings alone needs no further check, and a mask of the whole text alone is kept', async () => {
    const inner = await settle(units, [content, 'to:\n[x]', '\ta@b.example']);
    expect(inner.again).toEqual([]);
    expect(inner.settled).toMatchObject({
      contents: ['{"mail":"to:\\n[x]","other":"\\ta@b.example"}', 'to:\na@b.example', '\ta@b.example'],
    });
    const outer = ['{}', 'to:\na@b.example', '\ta@b.example'];
    expect(await settle(units, outer)).toEqual({ settled: { kind: 'settled', contents: outer }, again: [] });
  });

  test('a mask that matches its own replacement is applied to the text, and a mask that breaks the JSON is a deny', async () => {
    const masked = ['{"mail":"x","other":"x"}', 'to:\n[x]', '\ta@b.example'];
    const twice = await settle(units, masked, (text) => text.replace('[x]', '[x][x]'));
    expect(twice.settled).toMatchObject({
      contents: ['{"mail":"to:\\n[x][x]","other":"\\ta@b.example"}', 'to:\na@b.example', '\ta@b.example'],
    });
    const broken = await settle(units, masked, (text) => text.replace('n[x]', '[x]'));
    expect(broken.settled).toEqual({ kind: 'stop', error: plainError('policy_denied') });
  });

  test('a denied text with masks is a deny', async () => {
    const masked = ['{}', 'to:\n[x]', '\ta@b.example'];
    const stop = { kind: 'stop', error: plainError('policy_denied') } as const;
    expect(await settleMasks(units, masked, async () => stop)).toEqual(stop);
  });
});

test('masks at every level of JSON in strings are applied to their strings, in a text and in arguments of a call', async () => {
  const content = JSON.stringify({ a: JSON.stringify({ b: JSON.stringify({ c: 'x\ny' }) }) });
  const expected = JSON.stringify({ a: JSON.stringify({ b: JSON.stringify({ c: 'x\n***' }) }) });
  const nested = collectNested(
    { kind: 'string', value: content, ...rangeOf(content) },
    { role: 'assistant', numbers: true },
  );
  for (const units of [[unit(content), ...escapedTexts(unit(content))], nested, nested.toReversed()]) {
    const masked = units.map((one) => (one.content === 'x\ny' ? 'x\n***' : one.content));
    const { settled, again } = await settle(units, masked);
    if (settled.kind === 'stop') throw new Error('stopped');
    expect(again).toEqual([]);
    expect(sent(content, units, settled.contents)).toBe(expected);
  }
});
