import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { missingPostgres, onPostgres } from '../../libraries/sql/testing/test-database.ts';
import { servingDirectory } from '../support/serving-directory.ts';
import { startCommand, startPlatform } from '../support/start-platform.ts';

test.skipIf(missingPostgres !== undefined)(
  onPostgres(
    'on one machine, documents and memories are judged by the served policy that --guard-documents and --guard-memories name',
  ),
  async () => {
    using folder = temporaryFolder();
    const data = servingDirectory(folder.path);
    await using platform = await startPlatform({
      data,
      ...{ retrieval: true, guardDocuments: 'documents', memory: true, guardMemories: 'documents' },
    });
    const { retrieval = '', memory = '' } = platform.status().addresses;
    const call = async (path: string, body?: object, service = retrieval) => {
      const headers = { 'x-tenant-id': 'acme', 'x-user-id': 'ann', 'x-groups': 'staff' };
      const sent =
        body === undefined
          ? { headers }
          : {
              method: 'POST',
              body: JSON.stringify(body),
              headers: { ...headers, 'content-type': 'application/json' },
            };
      return (await (await fetch(`${service}${path}`, sent)).json()) as Record<string, unknown>;
    };
    await call('/v1/collections', { name: 'handbook', embedding_profile_id: 'offline' });
    const ingest = async (docId: string, text: string) => {
      const document = { collection: 'handbook', tenant_id: 'acme', doc_id: docId, acl: { groups: ['staff'] } };
      const content = { title: docId, sections: [{ text }] };
      const { jobs } = await call('/v1/documents:submit', {
        documents: [{ ...document, content, content_hash: docId, idempotency_key: docId }],
      });
      const [job] = jobs as readonly { readonly job_id: string }[];
      return until('the job has ended', async () => {
        const found = await call(`/v1/jobs/${job?.job_id}`);
        return found['status'] === 'DONE' || found['status'] === 'FAILED' ? found : undefined;
      });
    };
    expect(await ingest('travel', 'Ask ivan.petrov@example.com about hotels.')).toMatchObject({ status: 'DONE' });
    expect(await ingest('forbidden', 'How to make a bomb in a hotel.')).toMatchObject({ status: 'FAILED' });
    const answer = await call('/v1/query', { collection: 'handbook', text: 'hotels', mode: 'bm25' });
    const items = answer['items'] as readonly { readonly doc_id: string; readonly content: string }[];
    expect(items.map(({ doc_id }) => doc_id)).toEqual(['travel']);
    expect(items[0]?.content).toContain('Ask [email] about hotels.');
    const log = readFileSync(join(data, 'logs', 'retrieval.log'), 'utf8');
    expect(log).toContain('guard_target_loaded');
    expect(log).not.toContain('documents_unguarded');

    const say = async (content: string) => {
      const { event_id: id } = await call(
        '/v1/memories',
        { messages: [{ role: 'user', content }], agent_id: 'tutor' },
        memory,
      );
      return until('the event has ended', async () => {
        const found = await call(`/v1/events/${id}`, undefined, memory);
        return found['status'] === 'PENDING' ? undefined : found;
      });
    };
    expect(await say('My address is ivan.petrov@example.com.')).toMatchObject({ status: 'SUCCEEDED' });
    expect(await say('I love to make a bomb.')).toMatchObject({ status: 'FAILED' });
    const kept = await call('/v1/memories?user_id=ann', undefined, memory);
    expect((kept['results'] as readonly { readonly memory: string }[]).map((one) => one.memory)).toEqual([
      'My address is [email]',
    ]);
  },
);

test('a guard without its service, or with a name that no served policy has, is refused', async () => {
  using folder = temporaryFolder();
  for (const [words, sentence] of [
    [['--guard-documents', 'documents'], 'add --retrieval'],
    [['--guard-memories', 'documents'], 'add --memory'],
    [['--guard-cards', 'documents'], 'add --catalogue'],
    [['--retrieval', '--guard-documents', '../documents'], 'served-policies.yaml'],
  ] as const) {
    const command = startCommand(['up', '--data', join(folder.path, 'data'), '--port', '0', ...words]);
    expect(await command.exit()).toBe(2);
    expect(command.output()).toContain(sentence);
  }
});
