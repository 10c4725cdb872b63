import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { watchAnswers } from './watch-answers.ts';

async function serve(answer: () => boolean) {
  const server = createServer((_request, response) => {
    if (answer()) response.writeHead(503).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/livez`,
    [Symbol.dispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

test('a process that leaves four attempts in a row without an answer counts as hung', async () => {
  let asked = 0;
  using server = await serve(() => {
    asked += 1;
    return asked < 3;
  });
  const changes: boolean[] = [];
  const { signal } = new AbortController();
  const hangs = await watchAnswers(server.url, { signal, hungAfterMs: 2_000, onChange: (now) => changes.push(now) });
  expect(hangs).toBe(true);
  expect(changes).toEqual([false]);
  expect(asked).toBeGreaterThanOrEqual(6);
});

test('a process that answers each fourth attempt, with whatever status, does not count as hung', async () => {
  let asked = 0;
  const stop = new AbortController();
  using server = await serve(() => {
    asked += 1;
    if (asked === 9) stop.abort();
    return asked % 4 === 0;
  });
  const changes: boolean[] = [];
  const options = { signal: stop.signal, hungAfterMs: 2_000, onChange: (now: boolean) => changes.push(now) };
  expect(await watchAnswers(server.url, options)).toBe(false);
  expect(changes.slice(0, 4)).toEqual([false, true, false, true]);
});
