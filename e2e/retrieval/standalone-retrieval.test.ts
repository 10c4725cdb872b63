import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { missingPostgres, onPostgres } from '../../libraries/sql/testing/test-database.ts';
import { type Platform, startCommand, startPlatform } from '../support/start-platform.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';

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
  onPostgres('portcullis documents submit --watch keeps a collection in step with a folder'),
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
      expect(watch.output()).toContain('its characters are not valid in its encoding');
    } finally {
      await watch.end();
    }
  },
);
