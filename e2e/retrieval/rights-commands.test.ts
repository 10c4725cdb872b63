import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPostgresRelations } from '#relations/adapters/postgres/postgres-relations';
import { controlPlane } from '#relations/model';
import { userSubject } from '#relations/subject';
import { missingPostgres, onPostgres, openTestDatabase, type TestDatabase } from '#sql/testing/test-database';
import { runInProcess } from '../../cli/testing/run-cli.ts';
import { documentOf, type OpenedRetrieval, startRetrieval } from '../../dataplane/retrieval/testing/start-retrieval.ts';

const ann = { user: 'ann' };

describe.skipIf(missingPostgres !== undefined)(onPostgres('the commands of collections, documents and groups'), () => {
  let opened: TestDatabase;
  let service: OpenedRetrieval;
  const run = (person: string, ...args: readonly string[]) =>
    runInProcess([...args, '--server', service.url, '--as', person, '--tenant', 'acme']);
  const jsonOf = async (person: string, ...args: readonly string[]) => {
    const end = await run(person, ...args, '-o', 'json');
    expect(end).toMatchObject({ code: 0, stderr: '' });
    return JSON.parse(end.stdout) as Record<string, unknown>;
  };
  const found = async (person: string) => {
    const { items } = await jsonOf(person, 'query', 'hotel', '--collection', 'rules', '--mode', 'bm25');
    return (items as readonly { readonly doc_id: string }[]).map(({ doc_id }) => doc_id);
  };

  beforeAll(async () => {
    opened = await openTestDatabase();
    service = await startRetrieval(opened);
    const relations = await openPostgresRelations(opened.database);
    const root = userSubject({ issuer: 'development:acme', subject: 'root' });
    await relations.grant([{ subject: root, relation: 'administer', object: controlPlane }]);
    await run('ann', 'collection', 'create', 'rules', '--profile', 'test-profile', '--visibility', 'public');
    const texts = {
      travel: 'A hotel costs 180 euros.',
      pay: 'The hotel of the board.',
      taxi: 'A taxi costs 20 euros.',
    };
    const documents = Object.entries(texts).map(([id, text]) =>
      documentOf('rules', id, text, { acl: { principals: ['ann'] } }),
    );
    await service.ingest(ann, documents);
  });
  afterAll(async () => {
    await service?.[Symbol.asyncDispose]();
    await opened?.[Symbol.asyncDispose]();
  });

  test('collection create sends all of its options, and collection update changes one default and keeps the others', async () => {
    const options = [
      ...['--profile', 'test-profile', '--type', 'files', '--parent', 'rules', '--chunk-size', '400'],
      ...['--chunk-overlap', '40', '--mode', 'bm25', '--top-k', '3', '--empty-acl', 'strictest'],
    ];
    const parent = (await jsonOf('ann', 'collection', 'get', 'rules'))['collection_id'];
    expect(await jsonOf('ann', 'collection', 'create', 'below', ...options)).toMatchObject({
      collection_type: 'files',
      parent_id: parent,
      chunking: { size: 400, overlap: 40 },
      retrieval_defaults: { mode: 'bm25', top_k: 3 },
      empty_acl_policy: 'strictest',
    });
    expect(await jsonOf('ann', 'collection', 'update', 'below', '--top-k', '5')).toMatchObject({
      retrieval_defaults: { mode: 'bm25', top_k: 5 },
      empty_acl_policy: 'strictest',
    });
    expect(await run('ann', 'collection', 'update', 'below')).toMatchObject({ code: 2, stdout: '' });
    expect(await run('ann', 'collection', 'move', 'below', '--no-parent')).toMatchObject({
      code: 0,
      stdout: 'below has no parent collection.\n',
    });
    expect(await jsonOf('ann', 'collection', 'move', 'below', '--parent', 'rules')).toMatchObject({
      parent_id: parent,
    });
  });

  test('a collection becomes public after a confirmation at a terminal, and without one in a script', async () => {
    await run('ann', 'collection', 'create', 'closed', '--profile', 'test-profile');
    const update = ['collection', 'update', 'closed', '--visibility', 'public'];
    const words = [...update, '--server', service.url, '--as', 'ann', '--tenant', 'acme'];
    const asked = await runInProcess(words, { terminals: ['stdin', 'stderr'], input: 'n\n' });
    expect(asked).toMatchObject({
      code: 13,
      stdout: '',
      stderr: expect.stringContaining('Everyone in the tenant could search the collection closed.'),
    });
    expect(await jsonOf('ann', 'collection', 'get', 'closed')).toMatchObject({ visibility: 'private' });
    expect(await run('ann', ...update)).toMatchObject({ code: 0, stderr: '' });
    // The collection is already public, so that nothing is lost.
    const again = await runInProcess(words, { terminals: ['stdin', 'stderr'], input: 'n\n' });
    expect(again).toMatchObject({ code: 0, stderr: '' });
  });

  test('documents share replaces the readers of a document, and a person without the right to write cannot share it', async () => {
    expect(await found('bob')).toEqual([]);
    const share = ['documents', 'share', 'travel', '--collection', 'rules'];
    expect(await run('bob', ...share, '--allow-person', 'bob')).toMatchObject({ code: 9, stdout: '' });
    expect(await run('ann', ...share, '--allow-person', 'bob', '--allow-group', 'night')).toMatchObject({
      code: 0,
      stdout: 'Document travel is shared with the group night, the person bob.\n',
    });
    expect(await found('bob')).toEqual(['travel']);
  });

  test('documents share changes every document that exists, and names the others', async () => {
    const share = ['documents', 'share', 'travel', 'absent', 'pay', '--collection', 'rules', '--allow-person', 'bob'];
    expect(await run('ann', ...share)).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(
        /^Document travel is shared with the person bob\.\nDocument absent is shared as before: .+\.\nDocument pay is shared with the person bob\.\n$/,
      ),
      stderr: 'portcullis: 1 of 3 documents were not shared.\n',
    });
    const { stdout, code } = await run('ann', ...share, '-o', 'json');
    expect([code, JSON.parse(stdout)]).toMatchObject([
      1,
      { items: [{ doc_id: 'travel' }, { doc_id: 'absent', reason: expect.any(String) }, { doc_id: 'pay' }] },
    ]);
  });

  test('members of a group are added, listed and removed by an administrator, and their rights follow', async () => {
    await run('ann', 'documents', 'share', 'pay', '--collection', 'rules', '--allow-group', 'night shift');
    expect(await run('ann', 'group', 'add', 'night shift', '--person', 'eve')).toMatchObject({ code: 9, stdout: '' });
    expect(await run('root', 'group', 'members', 'night shift')).toMatchObject({
      code: 0,
      stdout: 'The service stores no member of the group night shift.\n',
    });
    expect((await run('root', 'group', 'add', 'night shift', '--person', 'eve')).stdout).toBe(
      'The person eve is a member of the group night shift.\n',
    );
    expect(await found('eve')).toEqual(['pay']);
    expect(await jsonOf('root', 'group', 'members', 'night shift')).toEqual({ items: [{ user_id: 'eve' }] });
    await run('root', 'group', 'remove', 'night shift', '--person', 'eve');
    expect(await found('eve')).toEqual([]);
  });

  test('query with highlights shows the words of the question between asterisks', async () => {
    const query = ['query', 'taxis', '--collection', 'rules', '--mode', 'bm25'];
    expect((await run('ann', ...query, '--highlight')).stdout).toContain('A *taxi* costs 20 euros.');
    expect((await run('ann', ...query)).stdout).toContain('A taxi costs 20 euros.');
  });
});
