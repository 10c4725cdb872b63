import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Bundle } from '#contracts/bundle';
import { until } from '#kit/testing/until';
import { openPattern, openSet } from '../../runtime/rules/pattern/search/engine.ts';
import { bundle, masking, policy, regex, section, stopList } from '../../runtime/testing/build-bundle.ts';
import { createRandom } from '../streaming/random.ts';
import { outcome, pass, startIsolated, startReady } from './isolated-runtime.ts';

const mebibyte = 1_048_576;
const limits = { maxBodyBytes: 4_096, maxMessages: 64, maxMatches: 64, maxConcurrency: 32, queueSize: 0 } as const;
const generous = { timeoutMs: 5_000 } as const;

function bundleOf(...patterns: readonly string[]): Bundle {
  const rules = patterns.map((pattern, at) => ({ ...regex(`pattern-${at}`, pattern), ...generous }));
  return bundle([policy({ ...section([...rules, stopList('words', ['forbidden'])]), deadlineMs: 5_000 })], { limits });
}

describe('a pattern that needs more memory than the engine has', () => {
  test.each([
    ['a pattern that needs all memory of the engine', '\\pL{446}', 'rule_too_costly'],
    ['one step more', '\\pL{447}', 'bundle_invalid'],
  ])(
    'a bundle with %s is refused at load with the reason, and the runtime answers no check',
    async (_, pattern, code) => {
      expect('refused' in openPattern(pattern, true)).toBe(code === 'bundle_invalid');
      await using runtime = await startIsolated(bundleOf('hello', pattern));
      await until('the refusal is logged', () => runtime.process.log().includes('bundle_refused'));
      const refusal =
        runtime.process
          .log()
          .split('\n')
          .find((line) => line.includes('bundle_refused')) ?? '';
      expect(JSON.parse(refusal)).toMatchObject({ code, reason: expect.stringContaining('rule pattern-1') });
      const termination = () => readFileSync(join(runtime.folder, 'termination'), 'utf8');
      await until('the termination message is written', () => termination().includes('rule pattern-1'));
      expect((await runtime.get('/readyz')).status).toBe(503);
      expect(outcome(await runtime.check('request', ['hello']))).toBe('503 policy_unavailable');
    },
  );

  test('a bundle with a short pattern is admitted and matches together with rules whose large patterns would be refused', async () => {
    await using runtime = await startReady(bundleOf('hello', '[a-z]{3}[0-9]'));
    expect(outcome(await runtime.check('request', ['good']))).toBe(pass);
    for (const text of ['hello', 'abc1', 'it is forbidden'])
      expect(outcome(await runtime.check('request', [text]))).toBe('200 policy_denied');
  });
});

describe('an automaton that exceeds its memory while it reads texts', () => {
  /** The state of the automaton encodes the last 60 characters, so random texts never reach the same state twice. */
  const pattern = 'a[ab]{60}c';
  const letters = (random: ReturnType<typeof createRandom>, length: number): string =>
    Array.from({ length }, () => random.pick(['a', 'b'])).join('');

  function makeText(random: ReturnType<typeof createRandom>): string {
    const text = letters(random, 3_000);
    const at = random.between(61, text.length);
    return random.chance(50) ? text : `${text.slice(0, at)}c${text.slice(at)}`;
  }

  test('a pattern whose automaton outgrows its memory answers every text correctly, within the memory limit of the engine', async () => {
    await using runtime = await startReady(bundleOf(pattern));
    const random = createRandom(3);
    const seen = new Set<string>();

    async function check(count: number): Promise<number> {
      for (let turn = 0; turn < count; turn += 1) {
        const text = makeText(random);
        const due = new RegExp(pattern).test(text) ? '200 policy_denied' : pass;
        seen.add(due);
        expect(outcome(await runtime.check('request', [text]))).toBe(due);
      }
      return (await runtime.settle()).resident;
    }

    const before = await check(1);
    const filled = await check(80);
    // 3,000 states for each text: without a bound the following texts would need three times the memory.
    const after = await check(240);
    expect(filled - before).toBeGreaterThan(8 * mebibyte);
    expect(after - before).toBeLessThan(64 * mebibyte);
    expect(after - filled).toBeLessThan((filled - before) / 2);
    expect(seen.size).toBe(2);
  });

  test('a pattern far above the admission limit matches correctly too, alone and in a set', () => {
    const random = createRandom(4);
    const set = openSet([pattern, 'b[ab]{60}d']);
    const alone = openPattern(pattern, true);
    if ('refused' in set || 'refused' in alone) throw new Error('the engine compiles both patterns');
    for (let turn = 0; turn < 6; turn += 1) {
      const text = letters(random, 60_000);
      const at = 60_000 - random.between(1, 50_000);
      const whole = `${text.slice(0, at)}${random.pick(['c', 'd', ''])}${text.slice(at)}`;
      const found = [pattern, 'b[ab]{60}d'].flatMap((one, index) => (new RegExp(one).test(whole) ? [index] : []));
      expect(set.firing(Buffer.from(whole))).toEqual(found);
      const match = new RegExp(pattern).exec(whole);
      const span = match === null ? undefined : { start: match.index, end: match.index + match[0].length };
      expect(alone.find(Buffer.from(whole), 0)).toEqual(span);
    }
  });
});

test('patterns that do not fit into one set are matched in several sets, each correctly', async () => {
  const member = (at: number): string => `k${at}z[ab]{100}x`;
  const count = 150;
  expect(openSet(Array.from({ length: 400 }, (_, at) => `${at}y[ab]{1000}x`))).toHaveProperty('refused');
  await using runtime = await startReady(bundleOf(...Array.from({ length: count }, (_, at) => member(at))));
  const text = (at: number, length: number): string => `k${at}z${'ab'.repeat(length / 2)}x`;
  for (const at of [0, 1, 74, 148, 149]) {
    expect(outcome(await runtime.check('request', [text(at, 100)]))).toBe('200 policy_denied');
    expect(outcome(await runtime.check('request', [text(at, 98)]))).toBe(pass);
  }
  expect(outcome(await runtime.check('request', [text(count, 100)]))).toBe(pass);
});

test('the engine lists the matches of a mask rule correctly in the longest text', async () => {
  const rule = { ...masking(regex('numbers', '[0-9]{4}-[0-9]{4}'), '#'), ...generous };
  const own = bundle([policy({ ...section([rule]), deadlineMs: 5_000 })], {
    limits: { ...limits, maxBodyBytes: 131_072, maxMatches: 1_024 },
  });
  await using runtime = await startReady(own);
  const content = `${'1234-5678 '.repeat(1_024)}${'5-'.repeat(50_000)}`;
  const answer = await runtime.check('request', [content]);
  expect(answer.json.action?.['body']).toEqual({
    messages: [{ role: 'user', content: content.replaceAll(/[0-9]{4}-[0-9]{4}/g, '#') }],
  });
});
