import { expect, test } from 'vitest';
import type { CheckTarget } from '#checks/check-target';
import type { CheckClient } from '#checks/client';
import { type JudgedTextKind, judgedTextKinds } from '#contracts/judged-texts';
import type { CheckUnit } from '../chat/check-unit.ts';
import { maxChecks } from '../chat/text-bounds.ts';
import { ResponseGuard } from '../responses/response-guard.ts';
import { StreamGuard } from '../stream/stream-guard.ts';
import { responseBody, responseStream } from '../testing/response-script.ts';
import { runMachine } from '../testing/run-guard.ts';
import { guardInput } from './guard-input.ts';
import { judgeWholeTexts } from './judge-whole-texts.ts';

const target: CheckTarget = {
  addresses: [],
  policyId: 'p',
  policyRevision: '1',
  digest: '0',
  contentProfile: 'c',
  maxBodyBytes: 4_096,
  maxMessages: 1,
  deadlineMs: 100,
};
const { signal } = new AbortController();
const judged: ReadonlySet<JudgedTextKind> = new Set(judgedTextKinds);

function countedChecks() {
  let made = 0;
  return {
    made: () => made,
    check: async () => {
      made += 1;
      return { kind: 'pass' } as const;
    },
  };
}

const unit = (content: string): CheckUnit => ({ role: 'user', content, place: { kind: 'fixed' } });
const units = (count: number): readonly CheckUnit[] => Array.from({ length: count }, () => unit('text'));

test('a request may need 1,024 checks, and a request that needs one more is refused before its first check', async () => {
  const batches = units(maxChecks).map((one) => [one]);
  const checks = countedChecks();
  expect(await guardInput(checks, target, batches, signal)).toEqual({ kind: 'pass' });
  expect(checks.made()).toBe(maxChecks);
  const more = countedChecks();
  const refused = { kind: 'stop', error: { kind: 'plain', code: 'too_many_checks', param: null } };
  expect(await guardInput(more, target, [...batches, [unit('one more')]], signal)).toEqual(refused);
  // A text in pieces counts as the number of checks that its size needs: here one more than the 1,022 other checks
  // leave.
  const long = [unit('word '.repeat(2_000))];
  expect(await guardInput(more, target, batches.slice(2), signal, long)).toEqual(refused);
  expect(more.made()).toBe(0);
  expect(await guardInput(more, target, batches.slice(3), signal, long)).toEqual({ kind: 'pass' });
});

test('the overlap of pieces is counted in bytes of the text', async () => {
  const batches = units(maxChecks).map((one) => [one]);
  const long = [unit('слово '.repeat(2_000))];
  const more = countedChecks();
  expect(await guardInput(more, target, batches.slice(9), signal, long)).toEqual({
    kind: 'stop',
    error: { kind: 'plain', code: 'too_many_checks', param: null },
  });
  expect(more.made()).toBe(0);
  const checks = countedChecks();
  expect(await guardInput(checks, target, batches.slice(10), signal, long)).toEqual({ kind: 'pass' });
  expect(checks.made()).toBeGreaterThanOrEqual(maxChecks);
});

test('a text that the limit of a check cannot divide is named as too long', async () => {
  const judge = (maxBodyBytes: number) =>
    guardInput(countedChecks(), { ...target, maxBodyBytes }, [], signal, [unit('word '.repeat(420))]);
  // A check has 52 bytes around its text, and the overlap 1,024.
  for (const limit of [256, 1_024, 1_076]) {
    expect(await judge(limit)).toMatchObject({
      kind: 'stop',
      error: { kind: 'too_long', code: 'body_too_large', excess: { limit } },
    });
  }
  expect(await judge(1_200)).toEqual({ kind: 'pass' });
});

test('a request whose masks need more than 4,096 checks is refused when it has made them', async () => {
  const counted = countedChecks();
  const checks: Pick<CheckClient, 'check'> = {
    // A mask of five words: few places are a possible split between two masks.
    check: async (_target, _stage, messages) => {
      await counted.check();
      return { kind: 'mask', contents: messages.map(({ content }) => content.replace(/(?:word ){5}/g, '***** ')) };
    },
  };
  const text = (words: number): readonly CheckUnit[] => [
    { role: 'user', content: 'word '.repeat(words), place: { kind: 'string', string: { start: 0, end: 1 } } },
  ];
  expect(await guardInput(checks, target, [], signal, text(100_000))).toMatchObject({ kind: 'mask' });
  expect(counted.made()).toBeGreaterThan(maxChecks / 2);
  expect(await guardInput(checks, target, [], signal, text(600_000))).toEqual({
    kind: 'stop',
    error: { kind: 'plain', code: 'too_many_checks', param: null },
  });
});

test('a complete answer may need 1,024 checks, even in windows, and an answer that needs more is refused before its first check', async () => {
  const judge = (checks: ReturnType<typeof countedChecks>, further: readonly CheckUnit[]) =>
    judgeWholeTexts(checks, target, { texts: [], further, inWindows: true }, signal);
  const refused = { kind: 'stop', error: { kind: 'plain', code: 'upstream_too_large', param: null } };
  expect(await judge(countedChecks(), units(maxChecks))).toEqual({ kind: 'pass' });
  const more = countedChecks();
  expect(await judge(more, units(maxChecks + 1))).toEqual(refused);
  // Five windows of 1 KiB.
  const long = unit('x'.repeat(5 * 1_024));
  expect(await judge(more, [...units(maxChecks - 4), long])).toEqual(refused);
  expect(more.made()).toBe(0);
  expect(await judge(more, [...units(maxChecks - 5), long])).toEqual({ kind: 'pass' });
});

const list = (count: number): string => JSON.stringify(new Array(count).fill('a'));
const tooLarge = { kind: 'stopped', stop: { kind: 'upstream', fault: 'held_too_much' } };

test('the calls of a stream may need 1,024 checks, and one more ends it', () => {
  const run = (count: number) => {
    const delta = { tool_calls: [{ index: 0, function: { arguments: list(count) } }] };
    const frame = `data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`;
    const guard = new StreamGuard({ judged, refuseUnjudged: false, limits: target });
    return runMachine(guard, [Buffer.from(`${frame}data: [DONE]\n\n`)]);
  };
  expect(run(maxChecks).end).toEqual({ kind: 'finished' });
  const refused = run(maxChecks + 1);
  expect(refused).toMatchObject({ end: tooLarge, windows: [], emitted: '' });
});

test('the texts of one event of a response may need 1,024 checks, and one more ends the stream', () => {
  const run = (count: number) => {
    const done = { type: 'response.function_call_arguments.done', output_index: 0, arguments: list(count) };
    const events = [done, { type: 'response.completed', response: responseBody([]) }];
    const guard = new ResponseGuard({ judged, refuseUnjudged: false, limits: target }, (frame) => frame);
    return runMachine(guard, [Buffer.from(responseStream(events))]);
  };
  expect(run(maxChecks).end).toEqual({ kind: 'finished' });
  const refused = run(maxChecks + 1);
  expect(refused).toMatchObject({ end: tooLarge, windows: [], emitted: '' });
});
