import { describe, expect, test } from 'vitest';
import type { CheckMessage } from '#contracts/checks';
import { createFakeClock } from '#kit/testing/fake-clock';
import type { CompiledRule, CompiledSection, Unit } from '../rules/compiled-section.ts';
import type { Decision } from '../rules/decision.ts';
import { runCheck } from './run-check.ts';

const messages: readonly CheckMessage[] = [{ role: 'user', content: 'hello' }];

function rule(id: string, change: Partial<CompiledRule> = {}): CompiledRule {
  return {
    policyId: 'p',
    stage: 'request',
    id,
    kind: 'regex',
    mode: 'enforce',
    timeoutMs: 20,
    effect: { kind: 'deny' },
    ...change,
  };
}

/** A section whose units advance the clock of the test. */
function run(rules: readonly CompiledRule[], units: readonly (Unit & { readonly ms: number })[], deadlineMs = 100) {
  const clock = createFakeClock();
  const ran: number[] = [];
  const counted: string[] = [];
  const timed = units.map(
    ({ ms, ...unit }): Unit => ({
      ...unit,
      firing(text) {
        ran.push(...unit.places);
        clock.advance(ms);
        return unit.firing(text);
      },
    }),
  );
  const section: CompiledSection = {
    stage: 'request',
    deadlineMs,
    rules,
    steps: [{ kind: 'batch', from: 0, to: rules.length, units: timed, observers: [] }],
  };
  const tally = {
    fired: ({ id }: CompiledRule) => void counted.push(id),
    failed: ({ id }: CompiledRule, code: string) => void counted.push(`${id}: ${code}`),
  };
  const ports = { clock, tally, observers: { start() {} } };
  return runCheck({ section, messages, maxMatches: 8, deadline: deadlineMs, maskDenies: false }, ports).then(
    (decision): { decision: Decision; ran: number[]; counted: string[] } => ({ decision, ran, counted }),
  );
}

const unit = (place: number, ms: number, fires = false, timeoutMs = 20) => ({
  places: [place],
  timeoutMs,
  ms,
  firing: () => (fires ? [place] : []),
});
const broken = (place: number) => ({
  places: [place],
  timeoutMs: 20,
  ms: 0,
  firing: (): never => {
    throw new Error('out of memory');
  },
});

const pass = { kind: 'pass' };
const failed = (code: string) => ({ kind: 'failed', code, rule: 'a' });

describe('an engine pass', () => {
  test('an engine pass that fails is engine_failure, never "no match"', async () => {
    expect(await run([rule('a')], [broken(0)])).toEqual({
      decision: failed('engine_failure'),
      ran: [0],
      counted: ['a: engine_failure'],
    });
    expect(await run([rule('a', { mode: 'observe' })], [broken(0)])).toEqual({
      decision: pass,
      ran: [0],
      counted: ['a: engine_failure'],
    });
  });

  test('an engine pass over the timeout of its rule is rule_timeout', async () => {
    expect((await run([rule('a')], [unit(0, 20)])).decision).toEqual(pass);
    expect((await run([rule('a')], [unit(0, 21)])).decision).toEqual(failed('rule_timeout'));
    expect((await run([rule('a')], [unit(0, 21, true)])).decision).toEqual(failed('rule_timeout'));
    expect(await run([rule('a', { mode: 'observe' })], [unit(0, 21)])).toMatchObject({
      decision: pass,
      counted: ['a: rule_timeout'],
    });
  });

  test('an engine pass is not begun after the deadline of the stage', async () => {
    const outcome = await run(
      [rule('a', { timeoutMs: 200 }), rule('b', { timeoutMs: 200 })],
      [unit(0, 100, false, 200), unit(1, 0, true, 200)],
    );
    expect(outcome).toEqual({ decision: { kind: 'failed', code: 'stage_timeout' }, ran: [0], counted: [] });
    expect((await run([rule('a', { timeoutMs: 200 })], [unit(0, 99, false, 200)])).decision).toEqual(pass);
    expect((await run([rule('a', { timeoutMs: 200 })], [unit(0, 100, false, 200)])).decision).toEqual({
      kind: 'failed',
      code: 'stage_timeout',
    });
  });

  test('after its slice an engine pass yields to the event loop', async () => {
    let others = 0;
    const slow = (place: number) => ({
      ...unit(place, 2),
      firing: () => {
        setImmediate(() => {
          others += 1;
        });
        return [];
      },
    });
    const seen: number[] = [];
    const watch = {
      ...unit(2, 0),
      firing: () => {
        seen.push(others);
        return [];
      },
    };
    await run([rule('a'), rule('b'), rule('c')], [slow(0), slow(1), watch]);
    expect(seen).toEqual([2]);
  });

  test('an engine pass that fires for a mask whose matches cannot be found again is engine_failure', async () => {
    const mask = (find: () => readonly { start: number; end: number }[]) =>
      rule('a', { effect: { kind: 'mask', text: { replacement: '#', keepFirst: 0, keepLast: 0 }, find } });
    expect((await run([mask(() => [])], [unit(0, 0, true)])).decision).toEqual(failed('engine_failure'));
    const outOfMemory = mask(() => {
      throw new Error('out of memory');
    });
    expect((await run([outOfMemory], [unit(0, 0, true)])).decision).toEqual(failed('engine_failure'));
    expect((await run([mask(() => [{ start: 0, end: 1 }])], [unit(0, 0, true)])).decision).toEqual({
      kind: 'mask',
      contents: ['#ello'],
      rules: ['a'],
      inserted: ['#'],
    });
  });
});
