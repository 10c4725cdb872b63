import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import type { CollectionResource } from '#resources/collection';
import { kinds, operatorFinalizer } from '#resources/kinds';
import { missingPostgres } from '#sql/testing/test-database';
import { backupObject } from '../../cli/backup/backup-object.ts';
import { restoreObjects } from '../../cli/backup/restore-objects.ts';
import { documentOf, openRetrieval } from '../../dataplane/retrieval/testing/open-retrieval.ts';
import { fullObjects } from '../crds/full-objects.ts';
import { missingApiServer, onApiServer } from '../kube/open-api-server.ts';
import { useWorkloadWorld } from './open-workload-namespace.ts';
import { startClusterOperator } from './start-cluster-operator.ts';

const token = 'the-service-token';
const missing = missingApiServer ?? missingPostgres;

describe.skipIf(missing !== undefined)(onApiServer('collections of resources in a cluster'), () => {
  const world = useWorkloadWorld();

  test('a Collection resource creates a collection, and its deletion removes the collection', async () => {
    const { client } = world.namespace;
    const tokenFile = join(world.folder, 'retrieval.token');
    writeFileSync(tokenFile, token);
    await using service = await openRetrieval({
      config: { internal: { listen: { host: '127.0.0.1', port: 0 }, tokenFile } },
    });
    const retrieval = { url: new URL(service.internalUrl ?? ''), tokenFile, tenants: ['acme'] };
    await using _operator = await startClusterOperator(world.server, world.namespace, world.folder, { retrieval });
    const { parent: _parent, ...spec } = fullObjects.collection.spec;
    const { metadata } = await client.create<CollectionResource>(kinds.collection, {
      ...fullObjects.collection,
      metadata: { name: 'handbook' },
      status: undefined,
      spec: {
        ...spec,
        source: { mode: 'New' },
        owner: { issuer: 'development:acme', subject: 'ann' },
        embeddingProfile: 'test-profile',
        retrievalDefaults: { mode: 'Terms' },
        deletionPolicy: 'Delete',
      },
    });
    const ready = await until('the collection is ready', async () => {
      const found = await client.get<CollectionResource>(kinds.collection, 'handbook');
      return found?.status?.conditions?.[0]?.status === 'True' ? found : undefined;
    });
    expect(ready.metadata.finalizers).toEqual([operatorFinalizer]);
    expect(ready.status?.collectionId).toBe(metadata.uid);
    const columns = await world.namespace.kubectl('get', 'coll', 'handbook', '--no-headers');
    expect(columns.replaceAll(/ +/g, ' ')).toMatch(/^handbook True Ready acme Handbook 0 test-profile /);
    const path = `/v1/collections/${metadata.uid}`;
    expect((await service.call({ user: 'ann' }, path)).json).toMatchObject({ name: 'Handbook' });
    await client.delete(kinds.collection, 'handbook', { uid: metadata.uid });
    await until('the resource is gone', async () => (await client.get(kinds.collection, 'handbook')) === undefined);
    expect((await service.call({ user: 'ann' }, path)).status).toBe(404);
  });

  test('a Collection that is restored from a backup declares the same collection, with its documents', async () => {
    const { client } = world.namespace;
    const tokenFile = join(world.folder, 'restored.token');
    writeFileSync(tokenFile, token);
    await using service = await openRetrieval({
      config: { internal: { listen: { host: '127.0.0.1', port: 0 }, tokenFile } },
    });
    const retrieval = { url: new URL(service.internalUrl ?? ''), tokenFile, tenants: ['acme'] };
    const { parent: _parent, ...spec } = fullObjects.collection.spec;
    const read = () => client.get<CollectionResource>(kinds.collection, 'restored');
    const ready = () =>
      until('the collection is ready', async () => {
        const found = await read();
        return found?.status?.conditions?.[0]?.status === 'True' ? found : undefined;
      });
    const first = await (async () => {
      await using _operator = await startClusterOperator(world.server, world.namespace, world.folder, { retrieval });
      await client.create<CollectionResource>(kinds.collection, {
        ...fullObjects.collection,
        metadata: { name: 'restored' },
        status: undefined,
        spec: {
          ...spec,
          source: { mode: 'New' },
          owner: { issuer: 'development:acme', subject: 'ann' },
          embeddingProfile: 'test-profile',
          retrievalDefaults: { mode: 'Terms' },
        },
      });
      return await ready();
    })();
    const { uid } = first.metadata;
    const [job] = await service.ingest({ user: 'ann' }, [documentOf(uid, 'rules', 'holidays are thirty days')]);
    expect(job?.status).toBe('DONE');
    const saved = backupObject(first);
    // The situation after the loss of a cluster: the resource is removed while no operator runs, so that its collection
    // is kept.
    await client.patch(kinds.collection, 'restored', [{ op: 'remove', path: '/metadata/finalizers' }]);
    await client.delete(kinds.collection, 'restored', { uid });
    await until('the resource is gone', async () => (await read()) === undefined);
    await restoreObjects(client, kinds.collection, [saved], () => undefined);
    expect((await read())?.metadata.uid).not.toBe(uid);
    await using _operator = await startClusterOperator(world.server, world.namespace, world.folder, { retrieval });
    expect((await ready()).status).toMatchObject({ collectionId: uid, documents: 1 });
    const found = await service.call({ user: 'ann', groups: ['staff'] }, '/v1/query', {
      collection: uid,
      text: 'holidays',
    });
    expect(found.json['items']).toHaveLength(1);
    const again = await read();
    expect(backupObject(again!).metadata.annotations).toMatchObject({ 'portcullis.dev/restored-uid': uid });
    await client.delete(kinds.collection, 'restored', { uid: again!.metadata.uid });
    await until('the resource is gone', async () => (await read()) === undefined);
    const change = { description: 'released' };
    expect((await service.send({ user: 'ann' }, 'PATCH', `/v1/collections/${uid}`, change)).status).toBe(200);
  });
});
