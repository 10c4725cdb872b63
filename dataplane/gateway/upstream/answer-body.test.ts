import { expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { PushedBody } from './answer-body.ts';

function opened(): { readonly body: PushedBody; readonly calls: string[] } {
  const calls: string[] = [];
  const note = (call: string) => (): void => void calls.push(call);
  return { body: new PushedBody({ pause: note('pause'), resume: note('resume'), abort: note('abort') }), calls };
}

test('chunks that arrive together are returned by one read, followed by the end', async () => {
  const { body, calls } = opened();
  const first = body.next();
  body.push(Buffer.from('ab'));
  body.push(Buffer.from('c'));
  expect(await first).toEqual({ done: false, value: Buffer.from('abc') });
  body.push(Buffer.from('d'));
  body.complete();
  expect(await body.next()).toEqual({ done: false, value: Buffer.from('d') });
  expect(await body.next()).toEqual({ done: true, value: undefined });
  const last = opened();
  const waiting = last.body.next();
  last.body.complete();
  expect(await waiting).toEqual({ done: true, value: undefined });
  body.destroy();
  expect(calls).toEqual([]);
});

test('the sender is paused when more than 65,536 bytes wait, and resumed when they are read', async () => {
  const { body, calls } = opened();
  body.push(Buffer.alloc(65_536));
  expect(calls).toEqual([]);
  body.push(Buffer.alloc(1));
  body.push(Buffer.alloc(1));
  expect(calls).toEqual(['pause']);
  expect((await body.next()).value).toHaveLength(65_538);
  expect(calls).toEqual(['pause', 'resume']);
});

test('a lost connection rejects the read and drops bytes that were not read', async () => {
  const { body, calls } = opened();
  const waiting = body.next();
  const lost = new Error('lost');
  body.fail(lost);
  await expect(waiting).rejects.toBe(lost);
  const held = opened();
  held.body.push(Buffer.from('a'));
  held.body.fail(lost);
  await expect(held.body.next()).rejects.toBe(lost);
  expect([...calls, ...held.calls]).toEqual([]);
});

test('an abandoned body rejects the read that waits and aborts the sender once; what arrives later is dropped', async () => {
  const { body, calls } = opened();
  const waiting = body.next();
  body.destroy();
  body.destroy();
  body.push(Buffer.alloc(70_000));
  body.complete();
  await expect(waiting).rejects.toThrow('abandoned');
  await expect(body.next()).rejects.toThrow('abandoned');
  const left = opened();
  left.body.push(Buffer.from('a'));
  for await (const part of left.body) {
    expect(part).toEqual(Buffer.from('a'));
    break;
  }
  expect([calls, left.calls]).toEqual([['abort'], ['abort']]);
});

test('a drained body drops what arrives and leaves the connection open if it ends in time', async () => {
  const { body, calls } = opened();
  body.push(Buffer.alloc(65_537));
  body.drain();
  body.push(Buffer.alloc(65_536));
  body.complete();
  body.drain();
  expect(calls).toEqual(['pause', 'resume']);
  expect(await body.next()).toEqual({ done: true, value: undefined });
});

test('a drained body is closed after more than 65,536 further bytes, or if its end does not arrive', async () => {
  const long = opened();
  long.body.drain();
  long.body.push(Buffer.alloc(65_536));
  expect(long.calls).toEqual([]);
  long.body.push(Buffer.alloc(1));
  expect(long.calls).toEqual(['abort']);
  const silent = opened();
  silent.body.drain();
  await until('the body is closed', () => silent.calls.includes('abort'));
  silent.body.complete();
  expect(silent.calls).toEqual(['abort']);
});
