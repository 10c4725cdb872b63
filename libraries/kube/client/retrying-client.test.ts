import { expect, test } from 'vitest';
import type { Script } from '#kit/testing/scripted-http';
import { until } from '#kit/testing/until';
import { kinds } from '#resources/kinds';
import { sampleReport } from '../testing/sample-resources.ts';
import { json, startScriptedServer } from '../testing/scripted-server.ts';
import { createClient } from './client.ts';
import { retrying } from './retrying-client.ts';

const kind = kinds.gatewayReport;
const server = { uid: 'u', resourceVersion: '1', generation: 1, creationTimestamp: '2026-01-01T00:00:00Z' };
const report = sampleReport('one', server);
const metadata = { resourceVersion: '1', continue: '' };
const list = json(200, { apiVersion: report.apiVersion, kind: 'GatewayReportList', metadata, items: [report] });

async function withClient(steps: readonly Script[], budgetMs: number) {
  const scripted = await startScriptedServer();
  scripted.script({ lists: steps });
  const client = createClient({ url: scripted.url, tokenFile: { first: () => 'secret' }, namespace: 'team' });
  return {
    scripted,
    client: retrying(client, budgetMs),
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]();
      await scripted[Symbol.asyncDispose]();
    },
  };
}

const later = (status: number, seconds = '0'): Script => json(status, 'later', { 'retry-after': seconds });

test('reads and writes with 429 or 503 are repeated after Retry-After', async () => {
  await using one = await withClient([later(429), later(503), later(429, '1'), list], 5_000);
  expect((await one.client.list(kind)).items).toHaveLength(1);
  one.scripted.script({ lists: [later(503), json(201, report)] });
  expect((await one.client.create(kind, sampleReport('one'))).metadata.uid).toBe('u');
  one.scripted.script({ lists: [later(429), json(200, report)] });
  expect((await one.client.get(kind, 'one'))?.metadata.uid).toBe('u');
  expect(one.scripted.seen).toHaveLength(8);
});

test.each([
  ['429 without Retry-After', json(429, 'no')],
  ['500, after which a write may have happened,', later(500)],
  ['409', later(409)],
  ['429 with a Retry-After beyond the retry budget', later(429, '2')],
])('a call that the server answers with %s is not repeated', async (_label, step) => {
  await using one = await withClient([step, list], 1_500);
  await expect(one.client.list(kind)).rejects.toMatchObject({ name: 'KubeError' });
  expect(one.scripted.seen).toHaveLength(1);
});

test('a retried call fails with the last error when its retry budget is used up', async () => {
  await using one = await withClient([later(429, '1'), later(429, '1'), list], 1_500);
  await expect(one.client.list(kind)).rejects.toMatchObject({ code: 'too_many_requests' });
  expect(one.scripted.seen).toHaveLength(2);
});

test('a list that is aborted while it waits for a retry ends immediately', async () => {
  await using one = await withClient([later(429, '30'), list], 60_000);
  const controller = new AbortController();
  const listing = one.client.list(kind, { signal: controller.signal });
  await until('the first attempt', () => one.scripted.seen.length === 1);
  controller.abort();
  await expect(listing).rejects.toMatchObject({ name: 'KubeError' });
});
