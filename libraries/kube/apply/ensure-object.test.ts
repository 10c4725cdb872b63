import { describe, expect, onTestFinished, test } from 'vitest';
import { builtinKinds } from '../client/builtin-kinds.ts';
import type { ConfigMap, Deployment } from '../client/builtin-types.ts';
import { createClient } from '../client/client.ts';
import { startFakeApiServer } from '../testing/fake-api-server.ts';
import { ensureObject, NameConflictError } from './ensure-object.ts';

async function open() {
  const server = await startFakeApiServer();
  const client = createClient({ url: server.url, tokenFile: { first: () => 't' }, namespace: 'team' });
  onTestFinished(async () => {
    await client[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });
  const writes = () => server.seen.filter((line) => !line.startsWith('GET'));
  return { server, client, writes };
}

const owner = { apiVersion: 'portcullis.dev/v1alpha1', kind: 'RuntimeWorkload', name: 'g-1', uid: 'owner' };
const labels = { 'app.kubernetes.io/name': 'portcullis-runtime' };

function deployment(replicas: number, ownerUid = 'owner'): Deployment {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'g-1', labels, ownerReferences: [{ ...owner, uid: ownerUid, controller: true }] },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'runtime', image: 'image' }] } },
    },
  };
}

const digestAnnotation = 'portcullis.dev/digest';
function bundle(digest: string, text = 'bytes'): ConfigMap {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'bundle-1', annotations: { [digestAnnotation]: digest } },
    immutable: true,
    data: { 'bundle.json': text },
  };
}

describe('ensuring an object with a controller', () => {
  const kind = builtinKinds.deployment;

  test('an owned object is created, then not written, then changed where it differs', async () => {
    const { server, client, writes } = await open();
    expect((await ensureObject(client, kind, deployment(1))).action).toBe('created');
    server.change('deployments', 'g-1', (object) =>
      Object.assign(object['spec'] as object, { progressDeadlineSeconds: 600 }),
    );
    expect(await ensureObject(client, kind, deployment(1))).toMatchObject({ action: 'unchanged', notKept: [] });
    expect(writes()).toHaveLength(1);
    expect((await ensureObject(client, kind, deployment(2))).action).toBe('configured');
    expect(writes()).toHaveLength(2);
    expect(server.object('deployments', 'g-1')?.['spec']).toMatchObject({ replicas: 2, progressDeadlineSeconds: 600 });
  });

  test('an owned object that is cached is not read again, and is not changed when the cached copy is stale', async () => {
    const { server, client } = await open();
    const { object: current } = await ensureObject(client, kind, deployment(1));
    const before = server.seen.length;
    expect((await ensureObject(client, kind, deployment(1), { current })).action).toBe('unchanged');
    expect(server.seen).toHaveLength(before);
    server.change('deployments', 'g-1', ({ metadata }) => Object.assign(metadata, { labels: { ...labels, a: 'b' } }));
    await expect(ensureObject(client, kind, deployment(2), { current })).rejects.toMatchObject({
      code: 'precondition_failed',
    });
    expect(server.object('deployments', 'g-1')?.['spec']).toMatchObject({ replicas: 1 });
  });

  test('an object that is created between the read and the write is adopted', async () => {
    const { client } = await open();
    await ensureObject(client, kind, deployment(1));
    let reads = 0;
    const get = async (...args: Parameters<typeof client.get>) => {
      reads += 1;
      return reads === 1 ? undefined : client.get(...args);
    };
    const blind = { ...client, get: get as typeof client.get };
    expect((await ensureObject(blind, kind, deployment(2))).action).toBe('configured');
  });

  test.each([
    [
      'another controller',
      (metadata: object) => Object.assign(metadata, { ownerReferences: [{ ...owner, uid: 'x', controller: true }] }),
    ],
    [
      'an owner reference that does not control it',
      (metadata: object) => Object.assign(metadata, { ownerReferences: [owner] }),
    ],
    ['no owner', (metadata: object) => Object.assign(metadata, { ownerReferences: undefined })],
  ])('an object with %s is not changed', async (_name, edit) => {
    const { server, client, writes } = await open();
    await ensureObject(client, kind, deployment(1));
    server.change('deployments', 'g-1', ({ metadata }) => void edit(metadata));
    const error = await ensureObject(client, kind, deployment(2)).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(NameConflictError);
    expect((error as NameConflictError).code).toBe('foreign_owner');
    expect(writes()).toHaveLength(1);
  });

  test('an object under deletion is not changed and the call fails with conflict', async () => {
    const { server, client, writes } = await open();
    await ensureObject(client, kind, deployment(1));
    server.change('deployments', 'g-1', ({ metadata }) => Object.assign(metadata, { deletionTimestamp: 'now' }));
    await expect(ensureObject(client, kind, deployment(2))).rejects.toMatchObject({ code: 'conflict' });
    expect(writes()).toHaveLength(1);
  });

  test('ensuring an object returns the values that the server did not keep', async () => {
    const { client } = await open();
    await ensureObject(client, kind, deployment(1));
    const rewriting = {
      ...client,
      patch: (async (_kind, name) => client.get(_kind, name)) as typeof client.patch,
    };
    expect(await ensureObject(rewriting, kind, deployment(2))).toMatchObject({
      action: 'unchanged',
      notKept: ['/spec/replicas'],
    });
  });
});

describe('ensuring an object with a digest', () => {
  const kind = builtinKinds.configMap;
  const ensure = (client: Parameters<typeof ensureObject>[0], object: ConfigMap) =>
    ensureObject(client, kind, object, { digestAnnotation });

  test('an object with a digest is created once and then found', async () => {
    const { client, writes } = await open();
    expect((await ensure(client, bundle('d1'))).action).toBe('created');
    expect((await ensure(client, bundle('d1'))).action).toBe('unchanged');
    expect(writes()).toHaveLength(1);
  });

  test.each([
    ['another digest', bundle('d2')],
    ['other content with the same digest', bundle('d1', 'other')],
  ])('an object with a digest conflicts with one of %s', async (_name, other) => {
    const { client, writes } = await open();
    await ensure(client, bundle('d1'));
    await expect(ensure(client, other)).rejects.toMatchObject({ name: 'NameConflictError', code: 'other_content' });
    expect(writes()).toHaveLength(1);
  });
});

test('an object without a controller and without a digest annotation is refused', async () => {
  const { client, writes } = await open();
  await expect(ensureObject(client, builtinKinds.configMap, bundle('d1'))).rejects.toBeInstanceOf(TypeError);
  expect(writes()).toEqual([]);
});
