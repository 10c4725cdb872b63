import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { mapUpstreamStatus } from './map-status.ts';
import { readWholeBody } from './read-whole-body.ts';

const parts = (...sizes: readonly number[]): Readable => Readable.from(sizes.map((size) => Buffer.alloc(size, 'x')));
const never = new AbortController().signal;

test('an answer may be as long as the limit and not a byte longer', async () => {
  expect(await readWholeBody(parts(60, 40), 100, never)).toEqual({ ok: true, bytes: Buffer.alloc(100, 'x') });
  const longer = parts(60, 41, 1_000);
  expect(await readWholeBody(longer, 100, never)).toEqual({ ok: false, fault: 'too_large' });
  expect(longer.destroyed).toBe(true);
});

test('an answer that breaks is broken, one that is given up rejects with the reason', async () => {
  const breaking = new Readable({ read: () => undefined });
  const broken = readWholeBody(breaking, 100, never);
  breaking.destroy(new Error('reset'));
  expect(await broken).toEqual({ ok: false, fault: 'broken' });
  const controller = new AbortController();
  const waiting = new Readable({ read: () => undefined, signal: controller.signal });
  const given = readWholeBody(waiting, 100, controller.signal);
  const reason = new Error('gone');
  controller.abort(reason);
  await expect(given).rejects.toBe(reason);
});

test('no status of a provider becomes a success, a deny or a wrong key of the client', () => {
  for (let status = 100; status < 600; status += 1) {
    expect(mapUpstreamStatus(status)).toMatch(/^upstream_/);
  }
});
