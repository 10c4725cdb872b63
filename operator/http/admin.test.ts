import { expect, test } from 'vitest';
import { createMetrics } from '#kit/metrics/metrics';
import { serveAdmin } from './admin.ts';

test('/livez and /readyz fail independently, each with its reasons, and recover', async () => {
  const ready: string[] = [];
  const alive: string[] = [];
  await using admin = await serveAdmin({
    listen: { host: '127.0.0.1', port: 0 },
    metrics: createMetrics({ service: 'operator' }),
    refresh: () => undefined,
    problems: { ready: () => ready, alive: () => alive },
  });
  const ask = async (path: string) => {
    const answer = await fetch(new URL(path, admin.url));
    return { code: answer.status, ...((await answer.json()) as object) };
  };
  expect(await ask('/livez')).toEqual({ code: 200, status: 'alive' });
  expect(await ask('/readyz')).toEqual({ code: 200, status: 'ready' });

  alive.push('the election loop is not running');
  expect(await ask('/livez')).toEqual({ code: 503, status: 'not alive', problems: alive });
  expect(await ask('/readyz')).toEqual({ code: 200, status: 'ready' });

  alive.pop();
  ready.push('a watch has not received data for too long');
  expect(await ask('/livez')).toEqual({ code: 200, status: 'alive' });
  expect(await ask('/readyz')).toEqual({ code: 503, status: 'not ready', problems: ready });
});
