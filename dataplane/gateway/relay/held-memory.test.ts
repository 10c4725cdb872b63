import { expect, test } from 'vitest';
import { type JudgedTextKind, judgedTextKinds } from '#contracts/judged-texts';
import { parseTree } from '#kit/json/parse-tree';
import { collectGarbage } from '#kit/testing/collect-garbage';
import { bytesPerValue } from '../chat/text-bounds.ts';
import { sentTexts } from '../judged/sent-texts.ts';
import { ResponseGuard, responseStreamBounds } from '../responses/response-guard.ts';
import { StreamGuard } from '../stream/stream-guard.ts';
import { responseBody } from '../testing/response-script.ts';
import { runMachine } from '../testing/run-guard.ts';

const judged: ReadonlySet<JudgedTextKind> = new Set(judgedTextKinds);
const coverage = { judged, refuseUnjudged: false, limits: { maxMessages: 32, maxBodyBytes: 32_768 } };
const responseGuard = (): ResponseGuard => new ResponseGuard(coverage, (frame) => frame);
const event = (value: object): Buffer => Buffer.from(`data: ${JSON.stringify(value)}\n\n`);
const callPiece = (index: number, delta: string) =>
  event({ type: 'response.function_call_arguments.delta', output_index: index, delta });
const callEnd = (index: number, input: string) =>
  event({ type: 'response.function_call_arguments.done', output_index: index, arguments: input });
const completed = event({ type: 'response.completed', response: responseBody([]) });
const invalid = { kind: 'stopped', stop: { kind: 'upstream', fault: 'invalid' } };

/** Lets a guard receive bytes, and passes every check. */
function feed(guard: StreamGuard | ResponseGuard, bytes: Buffer): void {
  guard.receive(bytes);
  for (let step = guard.next(); step.kind !== 'read'; step = guard.next()) {
    if (step.kind === 'check') guard.judged({ kind: 'pass' });
    else if (step.kind !== 'emit') throw new Error(`the stream is ${step.kind}`);
  }
}

test('a held frame of a chat counts with the memory of its objects', () => {
  const guard = new StreamGuard(coverage);
  const frame = event({ choices: [{ index: 0, delta: { tool_calls: [{}] } }] });
  const data = frame.length - 'data: \n\n'.length;
  for (let count = 1; count <= 100; count += 1) {
    feed(guard, frame);
    expect(guard.heldBytes).toBe(count * (data + bytesPerValue));
  }
});

test('a held event of a response counts with the memory of its objects until its call was judged', () => {
  const guard = responseGuard();
  const piece = callPiece(0, 'x');
  const data = piece.length - 'data: \n\n'.length;
  for (let count = 1; count <= 100; count += 1) {
    feed(guard, piece);
    expect(guard.heldBytes).toBe(count * (data + bytesPerValue));
  }
  feed(guard, callEnd(0, 'x'.repeat(100)));
  expect(guard.heldBytes).toBe(0);
});

test('texts of an event that wait for their check count, and checked texts do not count', () => {
  const guard = responseGuard();
  guard.receive(callEnd(0, JSON.stringify(new Array(64).fill('text'))));
  const first = guard.next();
  expect(first.kind).toBe('check');
  // One of the two checks, of 32 texts each, is still planned.
  expect(guard.heldBytes).toBeGreaterThanOrEqual(32 * bytesPerValue);
  guard.judged({ kind: 'pass' });
  expect(guard.next().kind).toBe('check');
  guard.judged({ kind: 'pass' });
  expect(guard.next().kind).toBe('emit');
  expect(guard.heldBytes).toBe(0);
});

test('the texts of the request count from the moment when an answer repeats a member of it', () => {
  const body = Buffer.from(JSON.stringify({ input: 'a long text', metadata: { a: 'my note', b: 'id_1' } }));
  const sent = sentTexts(body);
  const has = (value: string): boolean => {
    const bytes = Buffer.from(JSON.stringify(value));
    return sent.has('metadata', parseTree(bytes), bytes);
  };
  expect(has('id_1')).toBe(true);
  expect(sent.heldBytes).toBe(0);
  expect([has('my note'), has('a long text')]).toEqual([true, false]);
  expect(sent.heldBytes).toBe(bytesPerValue + 2 * 'my note'.length);
});

test('the inputs of ended calls are released before the end of their stream', () => {
  const guard = responseGuard();
  const mebibyte = 1_048_576;
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  for (let index = 0; index < 24; index += 1) {
    const input = JSON.stringify(String.fromCharCode(97 + index).repeat(mebibyte));
    feed(guard, callPiece(index, input));
    feed(guard, callEnd(index, input));
  }
  collectGarbage();
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(12 * mebibyte);
});

test('a piece after the end of its call ends the stream, and an end that repeats the call does not', () => {
  const call = [callPiece(0, '{"a":'), callPiece(0, '1}'), callEnd(0, '{"a":1}')];
  expect(runMachine(responseGuard(), [...call, callEnd(0, '{"a":1}'), completed]).end).toEqual({ kind: 'finished' });
  expect(runMachine(responseGuard(), [...call, callPiece(1, '{}'), completed]).end).toEqual({ kind: 'finished' });
  expect(runMachine(responseGuard(), [...call, callPiece(0, 'x'), completed]).end).toEqual(invalid);
});

test('a stream may have 4,096 calls, and one more ends it', () => {
  const { texts } = responseStreamBounds;
  const calls = Array.from({ length: texts + 1 }, (_, index) => callEnd(index, '{}'));
  expect(runMachine(responseGuard(), [...calls.slice(0, texts), completed]).end).toEqual({ kind: 'finished' });
  expect(runMachine(responseGuard(), [...calls, completed]).end).toEqual(invalid);
});
