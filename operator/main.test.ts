import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openTokenFile } from '#kit/http/token-file';
import { until } from '#kit/testing/until';
import { createClient } from '#kube/client/client';
import { kinds } from '#resources/kinds';
import { startProcess } from '../e2e/support/start-process.ts';
import { policyObject } from './testing/objects.ts';

let data: string;
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'portcullis-main-'));
});
afterEach(() => rm(data, { recursive: true, force: true }));

const file = 'operator/main.ts';
const environment = () => ({ PORTCULLIS_DATA_DIR: data });

test('the operator process serves resources and reports its readiness', async () => {
  await using operator = await startProcess({ file, environment: environment() });
  const token = join(data, 'tokens', 'api.token');
  expect((await stat(token)).mode & 0o777).toBe(0o600);
  await using client = createClient({
    url: String(operator.ready['api']),
    tokenFile: openTokenFile(token),
    namespace: 'default',
  });
  await client.create(kinds.guardrailPolicy, policyObject('guard'));
  await until('the policy is recorded', async () => (await client.list(kinds.policyRevision)).items.length === 1);

  const get = (path: string, method = 'GET') => fetch(new URL(path, operator.url), { method });
  expect((await get('/livez')).status).toBe(200);
  expect(await (await get('/readyz')).json()).toEqual({ status: 'ready' });
  expect((await get('/other')).status).toBe(404);
  expect((await get('/livez', 'POST')).status).toBe(405);
  const metrics = await (await get('/metrics')).text();
  for (const name of [
    'controller_runtime_reconcile_total{controller="guardrailpolicy",result="success"',
    'controller_runtime_reconcile_total{controller="modelbinding",result="error"',
    'controller_runtime_reconcile_errors_total',
    'controller_runtime_reconcile_time_seconds_bucket',
    'controller_runtime_max_concurrent_reconciles{controller="modelbinding"',
    'controller_runtime_active_workers',
    'workqueue_depth{name="guardrailpolicy"',
    'workqueue_adds_total',
    'workqueue_retries_total',
    'workqueue_queue_duration_seconds_bucket',
    'workqueue_work_duration_seconds_bucket',
    'workqueue_unfinished_work_seconds',
    'workqueue_longest_running_processor_seconds',
    'rest_client_requests_total{method="POST",code="201"',
    'rest_client_request_duration_seconds_bucket',
  ]) {
    expect(metrics).toContain(name);
  }
  expect(await operator.end('SIGTERM')).toBe(0);
});

test('existing tokens of a data directory are not changed, and a second start continues from the state of the first', async () => {
  await using first = await startProcess({ file, environment: environment() });
  const token = await readFile(join(data, 'tokens', 'api.token'), 'utf8');
  await first.end('SIGKILL');
  await using second = await startProcess({ file, environment: environment() });
  expect(await readFile(join(data, 'tokens', 'api.token'), 'utf8')).toBe(token);
  expect(await second.end('SIGTERM')).toBe(0);
});

test('an invalid configuration of the operator is refused with one message for each problem', async () => {
  await writeFile(join(data, 'limits.yaml'), 'maxMessages: 65\n');
  await expect(startProcess({ file, environment: environment() })).rejects.toThrow(/limits\.yaml: maxMessages/);
  await expect(startProcess({ file, environment: {} })).rejects.toThrow(/PORTCULLIS_DATA_DIR is missing/);
});

test('an admin port that another program uses is reported as such, with resources that are not listed yet', async () => {
  await using other = createServer();
  await once(other.listen(0, '127.0.0.1'), 'listening');
  const { port } = other.address() as AddressInfo;
  const taken = { ...environment(), PORTCULLIS_LISTEN: `127.0.0.1:${port}` };
  await expect(startProcess({ file, environment: taken })).rejects.toThrow(/cannot start: .*\(port_in_use\)/);
});
