import { describe, expect, onTestFinished, test } from 'vitest';
import { stringify } from 'yaml';
import { createLogger } from '#kit/log/logger';
import { until } from '#kit/testing/until';
import { systemClock } from '#kit/time/clock';
import { createClient } from '#kube/client/client';
import { startFakeApiServer } from '#kube/testing/fake-api-server';
import type { ServedPin } from '../../ports.ts';
import { samplePin } from '../../testing/sample-pin.ts';
import { makeServedConfigMap, makeServedService } from './resources/served-objects.ts';
import { createServedServices } from './served-services.ts';

const logger = createLogger({ service: 'test', level: 'error', destination: { write: () => undefined } });
const entry = { name: 'text', policyRef: { name: 'guard', revision: 1 }, contentProfile: 'p', replicas: 1 };
const pin = samplePin;
const next: ServedPin = { ...pin, workload: 'g-2', previous: ['g-1'], policyRevision: '2' };
const name = 'portcullis-served-text';

async function open() {
  const server = await startFakeApiServer();
  const client = createClient({ url: server.url, tokenFile: { first: () => 't' }, namespace: 'team' });
  const served = createServedServices({ client, entries: [entry], port: 8_000, clock: systemClock, logger });
  await served.synced;
  onTestFinished(async () => {
    await served[Symbol.asyncDispose]();
    await client[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });
  const data = () => server.object('configmaps', name)?.['data'];
  const selector = () => (server.object('services', name)?.['spec'] as { selector?: object } | undefined)?.selector;
  const writes = () => server.seen.filter((line) => !line.startsWith('GET')).length;
  return { server, served, data, selector, writes };
}

test('the objects of a served policy equal their golden files', async () => {
  await expect(stringify(makeServedService('text', next, 8_000))).toMatchFileSnapshot('../../testdata/service.yaml');
  await expect(stringify(makeServedConfigMap('text', next, { namespace: 'team', port: 8_000 }))).toMatchFileSnapshot(
    '../../testdata/config-map.yaml',
  );
});

describe('the address of a served policy', () => {
  test('the address of a served policy resolves to its workload, is published, and is known to the next operator', async () => {
    const { served, data, selector, writes } = await open();
    expect(await served.point('text', pin, undefined)).toBe(true);
    expect(selector()).toEqual({ 'portcullis.dev/workload': 'g-1' });
    const { 'target.json': target, ...values } = data() as Record<string, string>;
    expect(JSON.parse(target ?? '')).toEqual({
      addresses: ['http://g-1.team.svc:8000'],
      policyId: 'id',
      policyRevision: '1',
      bundleDigest: 'd'.repeat(64),
      contentProfile: 'p',
      ...pin.limits,
    });
    expect(values).toEqual({
      address: 'http://portcullis-served-text.team.svc:8000',
      workloadAddress: 'http://g-1.team.svc:8000',
      policyId: 'id',
      policyRevision: '1',
      bundleDigest: 'd'.repeat(64),
      contentProfile: 'p',
    });
    await until('it is seen', () => served.pins().has('text'));
    expect(served.pins().get('text')).toEqual(pin);
    expect(await served.readPins()).toEqual(new Map([['text', pin]]));
    const before = writes();
    expect(await served.point('text', pin, pin)).toBe(false);
    expect(writes()).toBe(before);
  });

  test('the address of a served policy and its ConfigMap move together', async () => {
    const { served, data, selector } = await open();
    await served.point('text', pin, undefined);
    expect(await served.point('text', next, pin)).toBe(true);
    expect(selector()).toEqual({ 'portcullis.dev/workload': 'g-2' });
    expect(data()).toMatchObject({ policyRevision: '2', workloadAddress: 'http://g-2.team.svc:8000' });
  });

  test('the address of a served policy that another writer moved is not moved back', async () => {
    const { served, selector } = await open();
    await served.point('text', pin, undefined);
    await served.point('text', next, pin);
    await expect(served.point('text', pin, pin)).rejects.toMatchObject({ code: 'conflict' });
    expect(selector()).toEqual({ 'portcullis.dev/workload': 'g-2' });
  });

  test("drift of a served policy's address and its ConfigMap is corrected", async () => {
    const { server, served, data, selector } = await open();
    await served.point('text', pin, undefined);
    const told: string[] = [];
    served.onChange((one) => told.push(one));
    server.change('services', name, (object) => Object.assign(object['spec'] as object, { selector: { app: 'x' } }));
    server.remove('configmaps', name);
    await until('both are told', () => told.length >= 2);
    expect(await served.point('text', pin, pin)).toBe(false);
    expect(selector()).toMatchObject({ 'portcullis.dev/workload': 'g-1' });
    expect(data()).toMatchObject({ policyRevision: '1' });
  });

  test('a served policy does not take over a Service of its name that has another owner', async () => {
    const { server, served } = await open();
    await served.point('text', pin, undefined);
    server.change('services', name, (object) => {
      object.metadata['labels'] = {};
      object.metadata['annotations'] = {};
    });
    await expect(served.point('text', pin, pin)).rejects.toMatchObject({
      code: 'Refused',
      message: expect.stringContaining('has another owner'),
    });
  });

  test('a withdrawn address of a served policy is deleted with its ConfigMap', async () => {
    const { server, served } = await open();
    await served.point('text', pin, undefined);
    await until('it is seen', () => served.pins().has('text'));
    await served.withdraw('text');
    await served.withdraw('unknown');
    expect(server.object('services', name)).toBeUndefined();
    expect(server.object('configmaps', name)).toBeUndefined();
  });

  test('the address of a served policy whose second write failed is completed by the next attempt', async () => {
    const { server, served, data, selector } = await open();
    await served.point('text', pin, undefined);
    const fates = ['cut', 'served'] as const;
    let write = fates.length;
    server.fate = ({ method }) => {
      if (method === 'GET') return 'served';
      write -= 1;
      return fates[write] ?? 'served';
    };
    await expect(served.point('text', next, pin)).rejects.toMatchObject({ code: 'network' });
    expect(selector()).toEqual({ 'portcullis.dev/workload': 'g-2' });
    expect(data()).toMatchObject({ policyRevision: '1' });
    expect(await served.point('text', next, next)).toBe(false);
    expect(data()).toMatchObject({ policyRevision: '2' });
  });
});
