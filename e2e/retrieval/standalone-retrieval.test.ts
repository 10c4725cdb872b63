import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import type { CollectionResource } from '#resources/collection';
import { kinds } from '#resources/kinds';
import { root } from '../../hack/check/run-tool.ts';
import { missingPostgres, onPostgres } from '../../libraries/sql/testing/test-database.ts';
import { type Platform, startCommand, startPlatform } from '../support/start-platform.ts';

let platform: Platform;

beforeAll(async () => {
  if (missingPostgres === undefined) platform = await startPlatform({ retrieval: true });
});
afterAll(() => platform?.[Symbol.asyncDispose]());

async function call(user: string, groups: string, path: string, body?: object) {
  const { retrieval = '' } = platform.status().addresses;
  const headers = { 'x-tenant-id': 'acme', 'x-user-id': user, 'x-groups': groups };
  const sent =
    body === undefined
      ? { headers }
      : { method: 'POST', body: JSON.stringify(body), headers: { ...headers, 'content-type': 'application/json' } };
  const answer = await fetch(`${retrieval}${path}`, sent);
  return { status: answer.status, json: (await answer.json()) as Record<string, unknown> };
}

test.skipIf(missingPostgres !== undefined)(
  onPostgres('on one machine, the same question has different answers for two persons with different groups'),
  async () => {
    const collection = { name: 'handbook', visibility: 'public', embedding_profile_id: 'offline' };
    expect((await call('ann', 'staff', '/v1/collections', collection)).status).toBe(201);
    const document = (docId: string, text: string, group: string) => ({
      collection: 'handbook',
      tenant_id: 'acme',
      doc_id: docId,
      content: { title: docId, sections: [{ text }] },
      acl: { groups: [group] },
      content_hash: docId,
      idempotency_key: docId,
    });
    const submitted = await call('ann', 'staff', '/v1/documents:submit', {
      documents: [
        document('travel', 'Hotels for travel cost at most 180 euros.', 'staff'),
        document('board', 'The board travels first class and pays hotels of its choice.', 'board'),
      ],
    });
    expect(submitted.status).toBe(202);
    const jobs = submitted.json['jobs'] as readonly { readonly job_id: string }[];
    for (const { job_id } of jobs) {
      await until(
        'the job is done',
        async () => (await call('ann', 'staff', `/v1/jobs/${job_id}`)).json['status'] === 'DONE',
      );
    }
    const question = { collection: 'handbook', text: 'hotel travel' };
    const found = async (user: string, groups: string) => {
      const { json } = await call(user, groups, '/v1/query', question);
      return (json['items'] as readonly { readonly doc_id: string }[]).map(({ doc_id }) => doc_id).sort();
    };
    expect(await found('ann', 'staff')).toEqual(['travel']);
    expect(await found('bob', 'board')).toEqual(['board']);
    expect(await found('eve', 'sales')).toEqual([]);
    const health = await call('', '', '/health');
    expect(health.json).toMatchObject({ status: 'ok', components: { postgres: 'ok', s3: 'ok' } });
  },
);

test.skipIf(missingPostgres !== undefined)(
  onPostgres('portcullis documents submit --watch keeps a collection in sync with a folder'),
  async () => {
    using folder = temporaryFolder();
    const file = (name: string) => join(folder.path, name);
    const ids = async () => {
      const { json } = await call('ann', 'staff', '/v1/query', { collection: 'watched', text: 'otter', mode: 'bm25' });
      return (json['items'] as readonly { readonly doc_id: string }[]).map(({ doc_id }) => doc_id).sort();
    };
    const collection = { name: 'watched', visibility: 'public', embedding_profile_id: 'offline' };
    expect((await call('ann', 'staff', '/v1/collections', collection)).status).toBe(201);
    writeFileSync(file('one.md'), 'A lively otter.');
    writeFileSync(file('broken.md'), Buffer.from([0xff, 0xfe, 0xfd]));
    const caller = ['--as', 'ann', '--tenant', 'acme', '--data', platform.data];
    const settings = ['--collection', 'watched', '--allow-group', 'staff', '--source', 'wiki', '--watch'];
    const watch = startCommand(['documents', 'submit', folder.path, ...settings, ...caller]);
    try {
      await until('the first file is found', async () => (await ids()).join() === 'one.md');
      writeFileSync(file('two.md'), 'A second otter.');
      await until('the new file is found', async () => (await ids()).join() === 'one.md,two.md');
      writeFileSync(file('two.md'), 'A heron.');
      rmSync(file('one.md'));
      await until('neither is found', async () => (await ids()).length === 0);
      await until('the reason is printed', () =>
        watch.output().includes('its characters are not valid in its encoding'),
      );
    } finally {
      await watch.end();
    }
  },
);

test.skipIf(missingPostgres !== undefined)(
  onPostgres('on one machine, a Collection that is applied takes documents, and its deletion removes it'),
  async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, 'collection.yaml');
    const sample = readFileSync(join(root, 'crds/samples/valid/collection-new.yaml'), 'utf8');
    writeFileSync(
      file,
      sample
        .replace('https://login.example.com', 'development:acme')
        .replace('embeddingProfile: multilingual', 'embeddingProfile: offline')
        .replace('deletionPolicy: Retain', 'deletionPolicy: Delete')
        .replace('name: Handbook', 'name: declared'),
    );
    const run = async (...args: readonly string[]) => {
      const child = startCommand([...args, '--data', platform.data]);
      expect(await child.exit(), child.output()).toBe(0);
      return child.output();
    };
    await run('apply', '-f', file);
    const found = await until('the collection is ready', async () => {
      const one = await platform.client.get<CollectionResource>(kinds.collection, 'sample-collection-new');
      const isReady = one?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True');
      return isReady === true ? one : undefined;
    });
    expect(found.status?.collectionId).toBe(found.metadata.uid);
    const read = () => call('ann', 'staff', `/v1/collections/${found.metadata.uid}`);
    expect(await read()).toMatchObject({ status: 200, json: { name: 'declared' } });
    expect(await run('get', 'collections')).toMatch(/sample-collection-new +acme +declared +0 +offline +- +True/);
    expect(await run('describe', 'collection', 'sample-collection-new')).toContain('ProfileActive');
    expect(await run('why', 'collection/sample-collection-new')).toMatch(
      /^Collection sample-collection-new is ready\./,
    );
    expect(await run('status')).toMatch(/sample-collection-new +acme +declared +ready +0/);
    const document = { collection: 'declared', tenant_id: 'acme', doc_id: 'one', acl: { groups: ['staff'] } };
    const content = { content: { sections: [{ text: 'An otter.' }] }, content_hash: 'one', idempotency_key: 'one' };
    const sent = await call('ann', 'staff', '/v1/documents:submit', { documents: [{ ...document, ...content }] });
    expect(sent.status).toBe(202);
    await until('the document is counted', async () => {
      const looked = [
        { op: 'add', path: '/metadata/annotations', value: { looked: String(performance.now()) } },
      ] as const;
      await platform.client.patch(kinds.collection, found.metadata.name, looked);
      const one = await platform.client.get<CollectionResource>(kinds.collection, found.metadata.name);
      return one?.status?.documents === 1;
    });
    const refused = startCommand(['delete', '-f', file, '--data', platform.data]);
    expect(await refused.exit()).not.toBe(0);
    expect(refused.output()).toContain('is deleted with its documents (1)');
    expect((await read()).status).toBe(200);
    await run('delete', '-f', file, '--yes');
    await until('the collection is deleted', async () => (await read()).status === 404);
  },
);
