import { writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { verifies } from '../../../e2e/support/verifies.ts';
import { documentOf, type OpenedRetrieval, openRetrieval, type TestCaller } from '../testing/open-retrieval.ts';
import { openWatchedModels } from '../testing/watched-models.ts';

const ann = { user: 'ann', groups: ['staff'] };
const bob = { user: 'bob', groups: ['sales'] };

type Item = { readonly doc_id: string; readonly content: string; readonly score: number };
type Packed = { readonly packed_context: string; readonly token_count: number; readonly items: readonly Item[] };

describe.skipIf(missingPostgres !== undefined)(onPostgres('search over HTTP'), () => {
  const parts = new AsyncDisposableStack();
  const models = openWatchedModels();
  let service: OpenedRetrieval;

  const ask = (caller: TestCaller, text: string, more: object = {}, headers = {}) =>
    service.call(caller, '/v1/query', { collection: 'harbour', text, mode: 'bm25', ...more }, headers);
  const found = async (...question: Parameters<typeof ask>) => {
    const { status, json } = await ask(...question);
    if (status !== 200) throw new Error(`the query was answered ${status}: ${JSON.stringify(json)}`);
    return json['items'] as readonly Item[];
  };
  const ids = async (...question: Parameters<typeof ask>) => (await found(...question)).map(({ doc_id }) => doc_id);
  const pack = async (caller: TestCaller, text: string, token_budget: number, more: object = {}) => {
    const body = { collection: 'harbour', text, mode: 'bm25', token_budget, ...more };
    const { status, json } = await service.call(caller, '/v1/retrieve_and_pack', body);
    if (status !== 200) throw new Error(`the pack was answered ${status}: ${JSON.stringify(json)}`);
    return json as unknown as Packed & { readonly mode: string; readonly meta: object };
  };
  const create = (name: string, more: object = {}, caller: TestCaller = ann) =>
    service.call(caller, '/v1/collections', { name, embedding_profile_id: 'test-profile', ...more });
  const document = (docId: string, text: string, more: object = {}) =>
    documentOf('harbour', docId, text, { content: { sections: [{ text }] }, ...more });

  beforeAll(async () => {
    const folder = parts.use(temporaryFolder());
    const modelsFile = join(folder.path, 'models.yaml');
    writeFileSync(
      modelsFile,
      'embedding: [{ id: test-profile, model: embedder, dimension: 8 }]\n' +
        'rerank: [{ id: approved, model: ranker }]\nrewrite: [{ id: rewriter, model: small-chat }]\n',
    );
    service = parts.use(await openRetrieval({ overrides: { models }, config: { modelsFile } }));
    await create('harbour', { chunking: { size: 100, overlap: 0 } });
    const jobs = await service.ingest(ann, [
      document('both', 'harbour', { metadata: { department: 'sea', url: 'https://example.org/both' } }),
      document('synonym', 'sloop'),
      document('words', 'harbour ledger of long ago', { metadata: { department: 'land' } }),
      document('hidden', 'harbour secret', { acl: { groups: ['board'] } }),
      document('personal', 'harbour diary', { acl: { principals: ['bob'] } }),
      document('early', 'harbour of tomorrow', { metadata: { valid_from: '2996-01-01T00:00:00Z' } }),
      document('late', 'harbour of yesterday', { metadata: { valid_until: '1996-01-01T00:00:00Z' } }),
      document('current', 'lantern', {
        metadata: { valid_from: '1996-01-01T00:00:00Z', valid_until: '2996-01-01T00:00:00Z' },
      }),
      documentOf('harbour', 'titled', 'compass'),
      ...Array.from({ length: 12 }, (_, at) => document(`river-${at}`, `river bend number ${at}`)),
      document('long', Array.from({ length: 12 }, (_, at) => `Anchor sentence ${at} of the long text.`).join(' ')),
    ]);
    expect(jobs.filter(({ status }) => status !== 'DONE')).toEqual([]);
  });
  beforeEach(() => models.reset());
  afterAll(() => parts.disposeAsync());

  test('a citation lists the words of its content that occur in the query, if the request asks for them', async () => {
    const marked = (items: readonly Item[]) =>
      items.map(({ content, ...item }) => {
        const spans = (item as { highlights?: readonly { start: number; end: number }[] }).highlights;
        return spans?.map(({ start, end }) => content.slice(start, end));
      });
    const asked = await found(ann, 'harbours and ledgers', { highlight: true });
    expect(marked(asked).flat().toSorted()).toEqual(['harbour', 'harbour', 'ledger']);
    expect(marked(await found(ann, 'harbours and ledgers'))).toEqual([undefined, undefined]);
    const byMeaning = await found(ann, 'boat', { mode: 'vector', highlight: true });
    expect(byMeaning.length).toBeGreaterThan(0);
    expect(marked(byMeaning)).toEqual(byMeaning.map(() => []));
    const packed = await pack(ann, 'harbours', 1_000, { highlight: true });
    expect(marked(packed.items).flat()).toContain('harbour');
    expect((await ask(ann, 'harbour', { highlight: 'yes' })).status).toBe(400);
  });

  verifies(
    [
      'retrieval:query:ok',
      'retrieval:query-response:shape',
      'retrieval:citation:doc-id',
      'retrieval:citation:chunk-id',
      'retrieval:citation:content',
      'retrieval:citation:score',
      'retrieval:citation:title',
      'retrieval:citation:source-url',
      'retrieval:query-meta:hybrid-weights',
      'retrieval:query-meta:trace-id',
      'retrieval:query:trace-id',
      'retrieval:header:trace-id',
    ],
    'a citation has every key, null for a missing title or address, and the answer has the trace id of its request',
    async () => {
      const { json, headers } = await ask(ann, 'compass lantern', {}, { 'x-trace-id': 'my-trace' });
      const citation = (doc_id: string, title: string | null, content: string) =>
        expect.objectContaining({
          ...{ doc_id, title, source_url: null, content: expect.stringContaining(content) },
          ...{ chunk_id: expect.stringMatching(/^.{8,}$/), score: expect.any(Number) },
        });
      expect(json).toEqual({
        items: expect.arrayContaining([
          citation('titled', 'Title of titled', 'compass'),
          citation('current', null, 'lantern'),
        ]),
        meta: { mode: 'bm25', top_k: 8, rerank: false, hybrid_weights: expect.any(Object), trace_id: 'my-trace' },
      });
      expect(headers.get('x-trace-id')).toBe('my-trace');
      expect(await found(ann, 'harbour', { top_k: 1 })).toMatchObject([{ source_url: 'https://example.org/both' }]);
    },
  );

  verifies(
    ['retrieval:query:mode-bm25', 'retrieval:query:mode-vector', 'retrieval:query-request:mode-values'],
    'bm25 finds words and calls no model, and vector ranks by the vectors alone',
    async () => {
      expect(await ids(ann, 'harbour')).toEqual(['both', 'words']);
      expect(models.calls).toEqual([]);
      const [first, second] = await ids(ann, 'harbour', { mode: 'vector' });
      expect(new Set([first, second])).toEqual(new Set(['both', 'synonym']));
      expect((await ask(ann, 'harbour', { mode: 'nearest' })).json).toMatchObject({ code: 'invalid_document' });
    },
  );

  verifies(
    [
      'retrieval:query:hybrid-both-branches',
      'retrieval:query:rank-fusion',
      'retrieval:query-request:mode-default',
      'retrieval:query-meta:mode',
      'retrieval:query:embedded-by-gateway',
    ],
    'a query without a mode is hybrid: it finds by words and by vectors, and matches of both are first',
    async () => {
      const { json } = await ask(ann, 'harbour', { mode: undefined });
      const items = json['items'] as readonly Item[];
      const order = items.map(({ doc_id }) => doc_id);
      expect(order[0]).toBe('both');
      expect(order).toEqual(expect.arrayContaining(['synonym', 'words']));
      expect(items.map(({ score }) => score)).toEqual(items.map(({ score }) => score).toSorted((a, b) => b - a));
      expect(json['meta']).toMatchObject({ mode: 'hybrid' });
      expect(models.calls).toEqual(['embed query harbour']);
    },
  );

  verifies(
    ['retrieval:limits:top-k-default', 'retrieval:query-request:top-k-integer', 'retrieval:query-meta:top-k-requested'],
    'a query returns 8 items by default and at most top_k, and meta contains the requested number',
    async () => {
      expect(await found(ann, 'river')).toHaveLength(8);
      expect(await found(ann, 'river', { top_k: 2 })).toHaveLength(2);
      expect((await ask(ann, 'compass', { top_k: 50 })).json).toMatchObject({ items: [{}], meta: { top_k: 50 } });
    },
  );

  verifies(
    ['retrieval:query-request:collection-required', 'retrieval:query-request:text-required'],
    'a query without a collection or a text, or with another type of either, is refused and the place is named',
    async () => {
      for (const [place, more] of [
        ['collection', { collection: undefined }],
        ['collection', { collection: 7 }],
        ['text', { text: undefined }],
        ['text', { text: ['harbour'] }],
        ['rerank', { rerank: 'yes' }],
        ['rewrite', { rewrite: 1 }],
      ] as const) {
        const { status, json } = await ask(ann, 'harbour', more);
        expect([status, json]).toMatchObject([400, { message: expect.stringContaining(place) }]);
      }
    },
  );

  verifies(
    ['retrieval:query:access-checked', 'retrieval:error:forbidden', 'retrieval:authz:pack-needs-read'],
    'a caller without the right to read is answered 403 by query and pack, and neither a model nor the index is called',
    async () => {
      const nobody = { user: 'carol' };
      expect(await ask(nobody, 'harbour', { mode: 'hybrid' })).toMatchObject({
        status: 403,
        json: { code: 'forbidden' },
      });
      const body = { collection: 'harbour', text: 'harbour', token_budget: 10 };
      expect(await service.call(nobody, '/v1/retrieve_and_pack', body)).toMatchObject({ status: 403 });
      expect(models.calls).toEqual([]);
    },
  );

  verifies(
    ['retrieval:query:tenant-filter', 'retrieval:pack:tenant-filter', 'retrieval:error:not-found'],
    'a tenant finds no document of another tenant, even with equal names of collections and an equal query text',
    async () => {
      const other = { user: 'ann', groups: ['staff', 'board'], tenant: 'other' };
      expect(await ask(other, 'harbour')).toMatchObject({ status: 404, json: { code: 'not_found' } });
      await create('harbour', {}, other);
      const theirs = document('theirs', 'harbour of others', { tenant_id: 'other' });
      expect(await service.ingest(other, [theirs])).toMatchObject([{ status: 'DONE' }]);
      expect(await ids(other, 'harbour')).toEqual(['theirs']);
      expect(await ids(ann, 'harbour')).toEqual(['both', 'words']);
      expect((await pack(other, 'harbour', 500)).items.map(({ doc_id }) => doc_id)).toEqual(['theirs']);
    },
  );

  verifies(
    [
      'retrieval:query:acl-filter',
      'retrieval:pack:acl-filter',
      'retrieval:collection:acl-model-document',
      'retrieval:header:groups',
      'retrieval:header:principals',
      'retrieval:visibility:viewer-group',
      'retrieval:header:user-id',
      'retrieval:auth:development-headers',
    ],
    'a reader finds only the documents that the access lists admit: by group, user or principal',
    async () => {
      expect(await ids(ann, 'secret')).toEqual([]);
      expect(await ids({ ...ann, groups: ['choir', 'board'] }, 'secret harbour')).toEqual(['hidden']);
      expect(await ids({ ...ann, principals: ['bob'] }, 'diary')).toEqual(['personal']);
      const packed = await pack(ann, 'harbour secret diary', 2_000);
      expect(packed.packed_context).not.toMatch(/secret|diary/);
      expect(new Set(packed.items.map(({ doc_id }) => doc_id))).toEqual(new Set(['both', 'words']));
      expect(bob.groups).not.toContain('staff');
    },
  );

  test('a document outside of its validity period is not found', async () => {
    expect(await ids(ann, 'tomorrow yesterday lantern')).toEqual(['current']);
  });

  test('a condition on metadata keeps only matching documents', async () => {
    const department = (value: string) => ({ filters: { path: 'metadata.department', op: 'eq', value } });
    expect(await ids(ann, 'harbour', department('land'))).toEqual(['words']);
    expect(await ids(ann, 'harbour', department('sea'))).toEqual(['both']);
    expect(await ids(ann, 'harbour', { filters: { not: department('sea').filters } })).toEqual(['words']);
  });

  verifies(
    ['retrieval:collections-create:retrieval-defaults-used', 'retrieval:collection:acl-model-collection'],
    'a query takes mode and top_k from the collection, and with acl_model collection a right on it is sufficient',
    async () => {
      await create('open', { acl_model: 'collection', retrieval_defaults: { mode: 'bm25', top_k: 1 } });
      await service.ingest(ann, [
        documentOf('open', 'one', 'harbour', { acl: { groups: ['board'] } }),
        documentOf('open', 'two', 'harbour', { acl: { groups: ['board'] } }),
      ]);
      const { json } = await ask(ann, 'harbour', { collection: 'open', mode: undefined });
      expect(json).toMatchObject({ items: [{}], meta: { mode: 'bm25', top_k: 1 } });
      expect(await ids(ann, 'harbour', { collection: 'open', top_k: 5 })).toHaveLength(2);
    },
  );

  verifies(
    [
      'retrieval:query-meta:rerank-applied',
      'retrieval:query-request:rerank-default',
      'retrieval:query:rerank-approved-only',
    ],
    'an approved profile reranks and meta reports it; unrequested, unapproved or unavailable, it does not',
    async () => {
      const order = (await ids(ann, 'harbour')).toReversed();
      expect((await ask(ann, 'harbour', { rerank: true })).json).toMatchObject({
        items: order.map((doc_id) => ({ doc_id })),
        meta: { rerank: true },
      });
      expect(models.calls).toEqual(['rerank ranker']);
      expect((await ask(ann, 'harbour')).json).toMatchObject({ meta: { rerank: false } });
      models.fail('rerank', 'unavailable');
      expect((await ask(ann, 'harbour', { rerank: true })).json).toMatchObject({
        items: order.toReversed().map((doc_id) => ({ doc_id })),
        meta: { rerank: false },
      });
      await create('unranked', { retrieval_defaults: { rerank_profile_id: 'never-approved' } });
      await service.ingest(ann, [documentOf('unranked', 'one', 'harbour')]);
      models.reset();
      const { json } = await ask(ann, 'harbour', { collection: 'unranked', rerank: true });
      expect([json, models.calls]).toMatchObject([{ items: [{}], meta: { rerank: false } }, []]);
    },
  );

  verifies(
    ['retrieval:query-request:rewrite-default'],
    'a query is searched as sent; rewriting is optional, and if the model is unavailable the text stays unchanged',
    async () => {
      expect(await ids(ann, 'wharf')).toEqual([]);
      expect(models.calls).toEqual([]);
      expect(await ids(ann, 'wharf', { rewrite: true })).toEqual(['both', 'words']);
      models.fail('complete', 'unavailable');
      expect(await ids(ann, 'wharf', { rewrite: true })).toEqual([]);
    },
  );

  test('a hybrid query is answered 503 while no model can embed it, and never by words alone', async () => {
    models.fail('embed', 'unavailable');
    for (const mode of ['hybrid', 'vector']) {
      expect(await ask(ann, 'harbour', { mode })).toMatchObject({ status: 503, json: { code: 'unavailable' } });
    }
    expect(await ids(ann, 'harbour')).toEqual(['both', 'words']);
  });

  test('a query that the guardrail denies is answered 400 without its text', async () => {
    models.fail('embed', 'denied');
    const { status, json } = await ask(ann, 'harbour codeword', { mode: 'hybrid' });
    expect([status, json['code']]).toEqual([400, 'invalid_document']);
    expect(json['message']).toContain('text is denied by the guardrail');
    expect(JSON.stringify(json)).not.toContain('codeword');
  });

  verifies(
    [
      'retrieval:pack:ok',
      'retrieval:packed-context:mode-full-document',
      'retrieval:packed-context:mode-relevance-search',
      'retrieval:packed-context:mode-values',
      'retrieval:packed-context:meta',
      'retrieval:packed-context:items-entered',
      'retrieval:packed-context:within-budget',
      'retrieval:pack-request:query-fields',
    ],
    'a document that fits is packed as a whole; in a smaller budget, only the found chunks that fit are packed',
    async () => {
      const whole = await pack(ann, 'anchor', 500, { top_k: 20 });
      expect(whole).toMatchObject({ mode: 'full_document', meta: { mode: 'bm25', top_k: 20, rerank: false } });
      for (let at = 0; at < 12; at += 1) expect(whole.packed_context).toContain(`Anchor sentence ${at} of`);
      const small = await pack(ann, 'anchor', 40, { top_k: 20 });
      expect(small.mode).toBe('relevance_search');
      expect(small.token_count).toBeLessThanOrEqual(40);
      expect(small.items.length).toBeGreaterThan(0);
      expect(small.items.length).toBeLessThan(whole.items.length);
      for (const { content } of small.items) expect(small.packed_context).toContain(content);
      expect(await pack(ann, 'anchor', 1)).toMatchObject({ packed_context: '', token_count: 0, items: [] });
    },
  );

  test('a query whose client disconnects ends its call of the model, and the service continues', async () => {
    const hung = models.hang();
    const leaving = new AbortController();
    const body = JSON.stringify({ collection: 'harbour', text: 'harbour' });
    const headers = { 'content-type': 'application/json', 'x-tenant-id': 'acme', 'x-user-id': 'ann' };
    const asked = fetch(`${service.url}/v1/query`, { method: 'POST', headers, body, signal: leaving.signal });
    const signal = await hung;
    leaving.abort();
    await expect(asked).rejects.toThrow();
    await until('the call of the model is ended', async () => signal.aborted || undefined);
    expect(signal.reason).toMatchObject({ name: 'ClientGoneError' });
    expect(await ids(ann, 'harbour')).toEqual(['both', 'words']);
  });

  test('many queries over one connection cause no process warning', async () => {
    const warnings: string[] = [];
    const onWarning = ({ name }: Error): void => void warnings.push(name);
    process.on('warning', onWarning);
    using agent = disposableAgent();
    for (let at = 0; at < 15; at += 1) expect(await postOver(agent.agent, `${service.url}/v1/query`)).toBe(200);
    process.off('warning', onWarning);
    expect(warnings).toEqual([]);
  });
});

/** Opens an HTTP client with one connection. */
function disposableAgent(): Disposable & { readonly agent: Agent } {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return { agent, [Symbol.dispose]: () => agent.destroy() };
}

function postOver(agent: Agent, url: string): Promise<number | undefined> {
  const headers = { 'content-type': 'application/json', 'x-tenant-id': 'acme', 'x-user-id': 'ann' };
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', agent, headers }, (answer) => {
      answer.resume().once('end', () => resolve(answer.statusCode));
    });
    sent.once('error', reject).end(JSON.stringify({ collection: 'harbour', text: 'harbour', mode: 'bm25' }));
  });
}
