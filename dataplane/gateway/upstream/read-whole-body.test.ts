import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { mapUpstreamStatus } from '../http/call-provider.ts';
import { readWholeBody } from './read-whole-body.ts';

const parts = (...sizes: readonly number[]): Readable => Readable.from(sizes.map((size) => Buffer.alloc(size, 'x')));
const never = new AbortController().signal;
const bounds = { limit: 100, hold: () => true };

test('an answer of a provider is read up to the limit and not a byte more', async () => {
  expect(await readWholeBody(parts(60, 40), bounds, never)).toEqual({ ok: true, bytes: Buffer.alloc(100, 'x') });
  const longer = parts(60, 41, 1_000);
  expect(await readWholeBody(longer, bounds, never)).toEqual({ ok: false, fault: 'too_large' });
  expect(longer.destroyed).toBe(true);
});

test('an answer of a provider that exceeds the memory budget is no longer read', async () => {
  const asked: number[] = [];
  const hold = (bytes: number): boolean => asked.push(bytes) < 2;
  const body = parts(10, 20, 30);
  expect(await readWholeBody(body, { limit: 100, hold }, never)).toEqual({ ok: false, fault: 'refused' });
  expect(asked).toEqual([10, 20]);
  expect(body.destroyed).toBe(true);
});

test('a broken connection to a provider is reported as the fault broken, and an aborted read rejects with the reason of its signal', async () => {
  const breaking = new Readable({ read: () => undefined });
  const broken = readWholeBody(breaking, bounds, never);
  breaking.destroy(new Error('reset'));
  expect(await broken).toEqual({ ok: false, fault: 'broken' });
  const controller = new AbortController();
  const waiting = new Readable({ read: () => undefined, signal: controller.signal });
  const given = readWholeBody(waiting, bounds, controller.signal);
  const reason = new Error('gone');
  controller.abort(reason);
  await expect(given).rejects.toBe(reason);
});

test('every status of a provider becomes an upstream error, never a success, a deny or an authentication error', () => {
  for (let status = 100; status < 600; status += 1) {
    expect(mapUpstreamStatus(status)).toMatch(/^upstream_/);
  }
});
