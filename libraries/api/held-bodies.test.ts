import { expect, test } from 'vitest';
import { createFakeClock } from '#kit/testing/fake-clock';
import { noteTable, serveNotes } from './testing/note-service.ts';

const free = 65_536;
const head = '{"text":"a","rest":[';

/** @param first a promise for which the first command waits before it is stored */
async function serveWith(heldBytes: number, bodyMs: number, first: () => Promise<void> = async () => undefined) {
  const [clock, waits] = [createFakeClock(), [first]];
  const beforeStore = async () => waits.pop()?.();
  const { server } = await serveNotes(
    { notes: new Map(), keys: new Map(), clock, beforeStore },
    {
      limits: {
        ...noteTable.limits,
        bodyBytes: 8_388_608,
        bodyMs,
        heldBodies: { bytes: heldBytes, overloaded: 'store_unavailable', keyOf: (caller) => caller },
      },
    },
  );
  async function post(key: string, body: string, tenant = 'blue'): Promise<number> {
    const headers = { 'x-tenant': tenant, 'content-type': 'application/json', 'idempotency-key': key };
    return (await fetch(`${server.url}/notes`, { method: 'POST', headers, body })).status;
  }
  return { post, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

/**
 * A body with this number of values: the object, its two members and the numbers of a list. It has an unknown field.
 */
const bodyOf = (values: number): string => `${head}${'1,'.repeat(values - 4)}1]}`;
/** A body of so many bytes with few values. */
const padded = (bytes: number): string => '{"text":"a"}'.padEnd(bytes);

test('a body of 1,000,000 JSON values is read, and a body with one value more is too large', async () => {
  await using api = await serveWith(1_000_000_000, 60_000);
  expect(await api.post('key1', bodyOf(1_000_000))).toBe(422);
  expect(await api.post('key2', bodyOf(1_000_001))).toBe(413);
});

test('a body of many values uses 64 bytes of the budget for each value, so that a larger one is refused', async () => {
  const values = 100_000;
  const bytes = Buffer.byteLength(bodyOf(values));
  await using fitting = await serveWith(bytes - free + values * 64, 60_000);
  expect(await fitting.post('key1', bodyOf(values))).toBe(422);
  await using small = await serveWith(bytes - free + values * 64 - 1, 60_000);
  expect(await small.post('key1', bodyOf(values))).toBe(503);
});

test('while a request uses the budget, small bodies are read and large ones are answered 503', async () => {
  const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const slow = async () => {
    begun.resolve();
    await end.promise;
  };
  await using api = await serveWith(400_000, 1_000, slow);
  const first = api.post('key1', padded(free + 390_000));
  await begun.promise;
  expect(await api.post('key2', padded(free + 150_000))).toBe(503);
  expect(await api.post('key3', '{"text":"b"}')).toBe(201);
  end.resolve();
  expect(await first).toBe(201);
  expect(await api.post('key4', padded(free + 150_000))).toBe(201);
});

test('the bodies of one caller use at most a quarter of the budget, and a body of another caller is read meanwhile', async () => {
  const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const slow = async () => {
    begun.resolve();
    await end.promise;
  };
  await using api = await serveWith(400_000, 1_000, slow);
  const first = api.post('key1', padded(free + 60_000));
  await begun.promise;
  expect(await api.post('key2', padded(free + 60_000))).toBe(503);
  expect(await api.post('key3', padded(free + 39_000))).toBe(201);
  expect(await api.post('key4', padded(free + 60_000), 'red')).toBe(201);
  end.resolve();
  expect(await first).toBe(201);
});
