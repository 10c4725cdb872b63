import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { JudgedTextKind } from '#contracts/judged-texts';
import { createByteBudget } from '#kit/http/byte-budget';
import { StreamGuard } from '../stream/stream-guard.ts';
import { relayStream } from './relay-stream.ts';

const mebibyte = 1_048_576;
/** Two streams of 4 MiB fit with the memory of their frames, because the first MiB of each is free. */
const limit = 7 * mebibyte;
const streams = 8;
const waitMs = 1_000;
const idleMs = 5_000;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A frame of a call with 64 KiB of blanks, which JSON allows. */
function callFrame(text: string): string {
  const delta = { tool_calls: [{ index: 0, function: { arguments: text } }] };
  const frame = JSON.stringify({ choices: [{ index: 0, delta, finish_reason: null }] });
  return `data: ${frame.slice(0, -1)}${' '.repeat(65_536 - frame.length)}}\n\n`;
}

const frames = ['{"q":"', ...Array.from({ length: 62 }, () => 'x '), '"}'].map(callFrame);
const done = 'data: [DONE]\n\n';

/** The body of an upstream that sends these pieces, and then ends or stays silent. */
function bodyOf(pieces: readonly string[], end: 'end' | 'silence') {
  const { promise, reject } = Promise.withResolvers<never>();
  promise.catch(() => undefined);
  return {
    async *[Symbol.asyncIterator]() {
      for (const piece of pieces) yield Buffer.from(piece);
      if (end === 'silence') await promise;
    },
    destroy: () => reject(new Error('destroyed')),
    drain: () => reject(new Error('drained')),
  };
}

/** Relays many streams with calls of 4 MiB through one budget. */
async function relayMany(end: 'end' | 'silence') {
  const budget = createByteBudget({ limit, largest: limit / 2, waitMs });
  let most = 0;
  const relayed = Array.from({ length: streams }, async () => {
    using bytes = budget.open();
    const coverage = { judged: new Set<JudgedTextKind>(['toolCalls']), refuseUnjudged: false };
    let sent = 0;
    const ended = await relayStream({
      body: bodyOf(end === 'end' ? [...frames, done] : frames, end),
      machine: new StreamGuard({ ...coverage, limits: { maxMessages: 32, maxBodyBytes: 32_768 } }),
      sink: {
        write: async (written) => {
          sent += written.length;
        },
      },
      check: async () => {
        most = Math.max(most, budget.taken);
        return { kind: 'pass' };
      },
      idleMs,
      bytes,
      signal: new AbortController().signal,
    });
    most = Math.max(most, budget.taken);
    const code = ended.kind === 'stopped' && ended.error.kind === 'plain' ? ended.error.code : ended.kind;
    return { code, sent };
  });
  await vi.advanceTimersByTimeAsync(4 * idleMs);
  return { ends: await Promise.all(relayed), most, budget };
}

test('streams that hold more than the byte budget wait for one another, and all of them pass', async () => {
  const { ends, most, budget } = await relayMany('end');
  const bytes = Buffer.byteLength([...frames, done].join(''));
  expect(ends).toEqual(Array.from({ length: streams }, () => ({ code: 'finished', sent: bytes })));
  expect(most).toBeGreaterThan(2 * mebibyte);
  expect(most).toBeLessThanOrEqual(limit);
  expect(budget.taken).toBe(0);
});

test('a stream that gets no bytes of the budget in time ends as overloaded, and no part of its call is sent', async () => {
  const { ends, most, budget } = await relayMany('silence');
  expect(ends.filter(({ code }) => code === 'upstream_timeout').length).toBeGreaterThanOrEqual(1);
  const refused = ends.filter(({ code }) => code === 'overloaded');
  expect(refused.length).toBeGreaterThanOrEqual(streams / 2);
  expect(ends.every(({ sent }) => sent === 0)).toBe(true);
  expect(most).toBeLessThanOrEqual(limit);
  expect(budget.taken).toBe(0);
});
