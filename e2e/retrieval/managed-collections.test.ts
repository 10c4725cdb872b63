import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTokenFile } from '#kit/http/token-file';
import { unusedPort } from '#kit/testing/loopback';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import type { KubeClient } from '#kube/client/client';
import type { CollectionResource, CollectionSpec } from '#resources/collection';
import { apiVersion, kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { documentOf, type OpenedRetrieval, openRetrieval } from '../../dataplane/retrieval/testing/open-retrieval.ts';
import { createHttpCollections } from '../../operator/collections/adapters/http/http-collections.ts';
import type { ManagedCollections } from '../../operator/collections/ports.ts';
import { startTestOperator, type TestOperator, waitFor } from '../../operator/testing/start-test-operator.ts';

const token = 'the-service-token';
const ann = { user: 'ann', groups: ['staff'] };

describe.skipIf(missingPostgres !== undefined)(onPostgres('collections of resources in the retrieval service'), () => {
  const folder = temporaryFolder();
  const tokenFile = join(folder.path, 'token');
  let service: OpenedRetrieval;
  let platform: TestOperator;

  const access = (url = service.internalUrl ?? '') => ({ url: new URL(url), tokenFile, tenants: ['acme'] });

  beforeAll(async () => {
    writeFileSync(tokenFile, token);
    const internal = { listen: { host: '127.0.0.1', port: 0 }, tokenFile };
    service = await openRetrieval({ config: { internal } });
    platform = await startTestOperator({ config: { retrieval: access() } });
  });
  afterAll(async () => {
    await platform?.[Symbol.asyncDispose]();
    await service?.[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
  });

  function resource(name: string, change: Partial<CollectionSpec> = {}): CollectionResource {
    return {
      apiVersion,
      kind: 'Collection',
      metadata: { name },
      spec: {
        tenant: 'acme',
        owner: { issuer: 'development:acme', subject: 'ann' },
        source: { mode: 'New' },
        name: `of ${name}`,
        type: 'KnowledgeBase',
        visibility: 'Private',
        embeddingProfile: 'test-profile',
        aclModel: 'Document',
        chunking: { size: 800, overlap: 120 },
        deletionPolicy: 'Delete',
        ...change,
      },
    };
  }

  const create = (name: string, change: Partial<CollectionSpec> = {}, on = platform) =>
    on.client.create<CollectionResource>(kinds.collection, resource(name, change));
  const edit = (name: string, member: string, value: unknown) =>
    platform.client.patch<CollectionResource>(kinds.collection, name, [{ op: 'add', path: `/spec/${member}`, value }]);

  function conditionOf({ metadata, status }: Stored<CollectionResource>, type: string): string {
    const found = status?.conditions?.find((one) => one.type === type);
    return found?.observedGeneration === metadata.generation ? `${found.status} ${found.reason}` : 'none';
  }

  const waitUntil = (name: string, type: string, says: string, on = platform) =>
    waitFor<CollectionResource>(
      on,
      kinds.collection,
      name,
      `${name}: ${type} is ${says}`,
      (one) => conditionOf(one, type) === says,
    );
  const ready = (name: string, on = platform) => waitUntil(name, 'Ready', 'True Ready', on);
  const gone = (name: string, on = platform) =>
    until(`${name} is gone`, async () => (await on.client.get(kinds.collection, name)) === undefined);
  const read = (id: string) => service.call(ann, `/v1/collections/${id}`);
  const look = (name: string) =>
    platform.client.patch(kinds.collection, name, [
      { op: 'add', path: '/metadata/annotations', value: { looked: String(performance.now()) } },
    ]);

  test('a Collection resource creates a collection with the UID as id and with the owner of the resource, and edits change it', async () => {
    const { metadata } = await create('first', { description: 'Rules of the house.' });
    const { status } = await ready('first');
    expect(status).toMatchObject({
      collectionId: metadata.uid,
      state: 'Created',
      activeVersion: 1,
      embeddingProfile: 'test-profile',
      documents: 0,
      chunks: 0,
    });
    expect((await read(metadata.uid)).json).toMatchObject({ name: 'of first', description: 'Rules of the house.' });
    await edit('first', 'visibility', 'Public');
    await edit('first', 'retrievalDefaults', { mode: 'Terms', results: 3 });
    await ready('first');
    expect((await read(metadata.uid)).json).toMatchObject({
      visibility: 'public',
      retrieval_defaults: { mode: 'bm25', top_k: 3 },
    });
    expect((await service.send(ann, 'PATCH', `/v1/collections/${metadata.uid}`, { description: 'x' })).status).toBe(
      409,
    );
  });

  test('the status of a Collection shows number of documents and active version, and another profile starts one reindex', async () => {
    const { metadata } = await create('mirrored');
    await ready('mirrored');
    const [job] = await service.ingest(ann, [documentOf(metadata.uid, 'handbook', 'holidays are thirty days')]);
    expect(job?.status).toBe('DONE');
    await look('mirrored');
    await waitFor<CollectionResource>(
      platform,
      kinds.collection,
      'mirrored',
      'the document is counted',
      ({ status }) => status?.documents === 1 && status.state === 'Ready' && (status.chunks ?? 0) > 0,
    );
    await edit('mirrored', 'embeddingProfile', 'other-profile');
    const { status } = await waitUntil('mirrored', 'ProfileActive', 'True Active');
    expect(status).toMatchObject({ activeVersion: 2, embeddingProfile: 'other-profile', documents: 1 });
    expect(status?.reindex).toBeUndefined();
  });

  test('a Collection resource that is deleted with the policy Delete removes its collection, whose id is not used again', async () => {
    const { metadata } = await create('deleted');
    await ready('deleted');
    await platform.client.delete(kinds.collection, 'deleted', { uid: metadata.uid });
    await gone('deleted');
    expect((await read(metadata.uid)).status).toBe(404);
    const again = await create('deleted');
    expect(again.metadata.uid).not.toBe(metadata.uid);
    expect((await ready('deleted')).status?.collectionId).toBe(again.metadata.uid);
  });

  test('a Collection resource that is deleted with the policy Retain keeps its collection, which another resource can adopt', async () => {
    const { metadata } = await create('kept', { deletionPolicy: 'Retain' });
    await ready('kept');
    await platform.client.delete(kinds.collection, 'kept', { uid: metadata.uid });
    await gone('kept');
    const change = { description: 'changed over HTTP' };
    expect((await service.send(ann, 'PATCH', `/v1/collections/${metadata.uid}`, change)).status).toBe(200);
    await create('successor', { name: 'of kept' });
    await waitUntil('successor', 'Ready', 'False NameTaken');
    const source = { mode: 'Existing', collectionId: metadata.uid } as const;
    await create('heir', { name: 'of kept', source });
    expect((await ready('heir')).status?.collectionId).toBe(metadata.uid);
    const second = await create('second-heir', { name: 'of kept', source });
    await waitUntil('second-heir', 'Ready', 'False NotManaged');
    await platform.client.delete(kinds.collection, 'second-heir', { uid: second.metadata.uid });
    await gone('second-heir');
    expect((await read(metadata.uid)).status).toBe(200);
  });

  test('conditions of a Collection name a tenant that is not approved, an unknown profile and an owner of another tenant', async () => {
    const { metadata } = await create('foreign', { tenant: 'other' });
    const { metadata: left } = await waitUntil('foreign', 'Ready', 'False TenantNotApproved');
    expect(left.finalizers).toBeUndefined();
    expect((await service.call({ ...ann, tenant: 'other' }, `/v1/collections/${metadata.uid}`)).status).toBe(404);
    await create('unknown', { embeddingProfile: 'nobody' });
    await waitUntil('unknown', 'Ready', 'False ProfileUnknown');
    await edit('unknown', 'embeddingProfile', 'test-profile');
    await ready('unknown');
    const made = { name: 'over http', embedding_profile_id: 'test-profile' };
    const free = String((await service.call(ann, '/v1/collections', made)).json['collection_id']);
    const source = { mode: 'Existing', collectionId: free } as const;
    const owner = { issuer: 'development:acme', subject: 'eve' };
    await create('stolen', { name: made.name, source, owner });
    await waitUntil('stolen', 'Ready', 'False OwnerDiffers');
  });

  test('a Collection with a parent is created below it, and a condition names an invalid parent', async () => {
    const { metadata: above } = await create('above');
    await ready('above');
    const parent = (collectionId: string) => ({ mode: 'Below', collectionId }) as const;
    const { metadata } = await create('below', { parent: parent(above.uid) });
    expect((await ready('below')).status?.parentId).toBe(above.uid);
    expect((await read(metadata.uid)).json).toMatchObject({ parent_id: above.uid });
    await edit('above', 'parent', parent(metadata.uid));
    await waitUntil('above', 'Ready', 'False ParentNotPossible');
    await edit('above', 'parent', parent('01990000-0000-4000-8000-000000000009'));
    await waitUntil('above', 'Ready', 'False ParentNotWritable');
    await edit('above', 'parent', { mode: 'None' });
    await ready('above');
    await platform.client.delete(kinds.collection, 'above', { uid: above.uid });
    await waitUntil('above', 'Ready', 'False DeletionHeld');
    await edit('below', 'parent', { mode: 'None' });
    expect((await ready('below')).status?.parentId).toBeUndefined();
    await look('above');
    await gone('above');
  });

  test('while the retrieval service is unavailable a condition of a Collection reports it, and no change is lost afterwards', async () => {
    const port = await unusedPort();
    await using own = await startTestOperator({ config: { retrieval: access(`http://127.0.0.1:${port}`) } });
    const { metadata } = await create('patient', {}, own);
    await waitUntil('patient', 'Ready', 'False RetrievalUnavailable', own);
    const relay = await relayTo(service.internalUrl ?? '', port);
    await ready('patient', own);
    expect((await read(metadata.uid)).status).toBe(200);
    await relay[Symbol.asyncDispose]();
    await own.client.delete(kinds.collection, 'patient', { uid: metadata.uid });
    await waitUntil('patient', 'Ready', 'False DeletionHeld', own);
    expect((await read(metadata.uid)).status).toBe(200);
    await using _back = await relayTo(service.internalUrl ?? '', port);
    await gone('patient', own);
    expect((await read(metadata.uid)).status).toBe(404);
  });

  test('without a retrieval service a condition of a Collection reports that, and the resource can be deleted', async () => {
    await using bare = await startTestOperator();
    const { metadata } = await create('nowhere', {}, bare);
    await waitUntil('nowhere', 'Ready', 'False RetrievalNotConfigured', bare);
    await bare.client.delete(kinds.collection, 'nowhere', { uid: metadata.uid });
    await gone('nowhere', bare);
  });

  test('after an operator is killed between any two writes its successor reaches the same final state', async () => {
    const endOf = async (deletionPolicy: 'Retain' | 'Delete', death?: LastCall) => {
      const internal = { ...access(), tokenFile: openTokenFile(tokenFile), writesAllowed: () => true };
      const mortal = mortalProcess(createHttpCollections(internal), death);
      const collections = { collections: mortal.collections, isApproved: () => true };
      await using own = await startTestOperator({
        overrides: { collections, wrapClient: mortal.wrapClient },
      });
      const revive = () => own.restart({ retrieval: access() });
      const { metadata } = await create('mortal', { deletionPolicy, name: `mortal ${performance.now()}` }, own);
      await until('ready or dead', async () => {
        const found = await own.client.get<CollectionResource>(kinds.collection, 'mortal');
        return mortal.isDead() || (found !== undefined && conditionOf(found, 'Ready') === 'True Ready');
      });
      if (mortal.isDead()) await revive();
      await ready('mortal', own);
      await own.client.delete(kinds.collection, 'mortal', { uid: metadata.uid });
      await until('gone or dead', async () => {
        return mortal.isDead() || (await own.client.get(kinds.collection, 'mortal')) === undefined;
      });
      if (mortal.isDead()) await revive();
      await gone('mortal', own);
      const after = await read(metadata.uid);
      const change = await service.send(ann, 'PATCH', `/v1/collections/${metadata.uid}`, { description: 'free' });
      expect([after.status, change.status]).toEqual(deletionPolicy === 'Delete' ? [404, 404] : [200, 200]);
      return mortal.calls();
    };
    for (const policy of ['Retain', 'Delete'] as const) {
      const calls = await endOf(policy);
      // Finalizer, PUT, status, end of the collection, end of the finalizer.
      expect(calls).toBeGreaterThanOrEqual(5);
      for (let call = 1; call <= calls; call++) {
        for (const moment of ['before', 'after'] as const) await endOf(policy, { call, moment });
      }
    }
  });
});

type Moment = 'before' | 'after';
type LastCall = { readonly call: number; readonly moment: Moment };

const clientWrites: ReadonlySet<string> = new Set(['create', 'patch', 'patchStatus', 'delete']);

/** The writes of a process to the resource server and to the service; the process is killed at one of these calls. */
function mortalProcess(inner: ManagedCollections, death: LastCall | undefined) {
  let calls = 0;
  let dead = false;
  const gone = (): never => {
    throw new Error('the process was killed');
  };
  async function counted<T>(run: () => Promise<T>): Promise<T> {
    if (dead) gone();
    calls += 1;
    if (calls !== death?.call) return run();
    if (death.moment === 'before') dead = true;
    else {
      await run().finally(() => {
        dead = true;
      });
    }
    return gone();
  }
  const collections: ManagedCollections = {
    ensure: (...args) => counted(() => inner.ensure(...args)),
    delete: (...args) => counted(() => inner.delete(...args)),
    release: (...args) => counted(() => inner.release(...args)),
  };
  const wrapClient = (client: KubeClient): KubeClient =>
    new Proxy(client, {
      get(target, member, receiver) {
        const value = Reflect.get(target, member, receiver);
        if (typeof value !== 'function' || !clientWrites.has(String(member))) return value;
        return (...args: unknown[]) => counted(() => Reflect.apply(value, target, args) as Promise<unknown>);
      },
    });
  return { calls: () => calls, isDead: () => dead, collections, wrapClient };
}

/** Passes the bytes of a port on to a service; disposing breaks its connections. */
async function relayTo(url: string, port: number): Promise<AsyncDisposable> {
  const { hostname, port: target } = new URL(url);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(target), hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket
        .on('error', () => undefined)
        .on('close', () => {
          client.destroy();
          upstream.destroy();
        });
    }
    client.pipe(upstream).pipe(client);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    async [Symbol.asyncDispose]() {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
