import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { clientKey } from '../testing/start-gateway.ts';
import { says, startWorld, type World } from '../testing/start-world.ts';

const mebibyte = 1_048_576;
let world: World;

beforeAll(async () => {
  // Half of the bytes are reserved for the oldest request.
  world = await startWorld({ maxHeldBytes: 20 * mebibyte, heldWaitMs: 1_000 });
});
afterAll(() => world[Symbol.asyncDispose]());

test('a client key takes half of the held bytes that are not reserved while another one needs some, which has the rest', async () => {
  const leaving = new AbortController();
  const ask = async (key: string, bytes: number): Promise<number> => {
    const headers = { authorization: `Bearer ${key}` };
    const body = { model: 'open', ...says('x'.repeat(bytes)) };
    const answer = await world.post('/v1/chat/completions', body, headers, leaving.signal);
    await answer.arrayBuffer();
    return answer.status;
  };
  // The provider answers small requests only, so that the large ones are held.
  world.upstream.play(({ text }) =>
    text.length > 1.5 * mebibyte ? { kind: 'silence' } : { kind: 'answer', content: 'fine' },
  );
  expect(await ask('other-key', 1)).toBe(200);
  const large = Array.from({ length: 8 }, () => ask(clientKey, 2 * mebibyte));
  await until('the others are refused', async () => (await settledOf(large)).filter((one) => one === 503).length === 6);
  expect(held()).toBe(2);
  expect(await ask('other-key', mebibyte)).toBe(200);
  expect(await ask(clientKey, mebibyte)).toBe(503);
  leaving.abort();
  await Promise.allSettled(large);
});

/** The number of large requests that the provider has received. */
function held(): number {
  return world.upstream.seen.filter(({ text }) => text.length > 1.5 * mebibyte).length;
}

/** The answers of the requests that have one. */
async function settledOf(requests: readonly Promise<number>[]): Promise<readonly (number | undefined)[]> {
  return Promise.all(requests.map((one) => Promise.race([one, Promise.resolve(undefined)])));
}
