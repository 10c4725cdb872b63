import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { userSubject } from '#relations/subject';
import { nameLimits } from '#relations/tuple';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { verifies } from '../../../e2e/support/verifies.ts';
import { documentOf, type OpenedRetrieval, openRetrieval } from '../testing/open-retrieval.ts';

const ann = { user: 'ann', groups: ['staff'] };
const submitPath = '/v1/documents:submit';

/** Numbers that the OpenAPI document and this suite name; they are changed together. */
const limits = {
  body: 16_777_216,
  smallBody: 1_048_576,
  documents: 200,
  sections: 10_000,
  tables: 1_000,
  inline: 4_194_304,
  metadata: 65_536,
  principals: 200,
  queryText: 8_192,
  topK: 100,
  tokenBudget: 200_000,
  depth: 8,
  parts: 128,
  values: 1_000,
};

describe.skipIf(missingPostgres !== undefined)(onPostgres('limits of the retrieval service'), () => {
  let service: OpenedRetrieval;
  let made = 0;
  const document = (more: object) => {
    made += 1;
    return documentOf('handbook', `limit-${made}`, 'A text.', more);
  };
  const statusOf = async (path: string, body: unknown) => {
    const { status, json } = await service.call(ann, path, body);
    return [status, json['code'], json['message']];
  };
  const accepted = [202, undefined, undefined];
  const refusedAt = (path: string) => [400, 'invalid_document', expect.stringContaining(path)];

  beforeAll(async () => {
    service = await openRetrieval({ config: { role: 'api' } });
    const body = { name: 'handbook', embedding_profile_id: 'test-profile' };
    expect((await service.call(ann, '/v1/collections', body)).status).toBe(201);
  });
  afterAll(() => service?.[Symbol.asyncDispose]());

  verifies(
    ['retrieval:submit:documents-required'],
    'a batch of 1 and of 200 documents is accepted; 0, 201, an absent and an invalid list are refused',
    async () => {
      const batch = (length: number) => ({ documents: Array.from({ length }, () => document({})) });
      expect(await statusOf(submitPath, batch(1))).toEqual(accepted);
      expect(await statusOf(submitPath, batch(limits.documents))).toEqual(accepted);
      for (const body of [batch(0), batch(limits.documents + 1), {}, { documents: 'all' }, { documents: null }]) {
        expect(await statusOf(submitPath, body)).toEqual(refusedAt('documents'));
      }
    },
  );

  test('a document whose text has 16,777,216 characters is accepted; one character more is refused with its place', async () => {
    const table = (rows: number) => ({
      headers: ['h'.repeat(65_532)],
      rows: Array.from({ length: rows }, () => [1]),
    });
    const batch = (content: object) => ({ documents: [document({}), document({ content })] });
    expect(await statusOf(submitPath, batch({ tables: [{}, table(256)] }))).toEqual(accepted);
    expect(await statusOf(submitPath, batch({ tables: [{}, table(256)], note: '' }))).toEqual(
      refusedAt('documents[1].content makes the text longer than 16777216 characters'),
    );
    expect(await statusOf(submitPath, batch({ tables: [{}, table(257)] }))).toEqual(
      refusedAt('documents[1].content.tables[1] makes the text longer than 16777216 characters'),
    );
  });

  test('a document with 10,000 sections and 1,000 tables is accepted, and one more of either is refused', async () => {
    const content = (sections: number, tables: number) => ({
      documents: [
        document({
          content: {
            sections: Array.from({ length: sections }, () => ({ text: 'a' })),
            tables: Array.from({ length: tables }, () => ({})),
          },
        }),
      ],
    });
    expect(await statusOf(submitPath, content(limits.sections, limits.tables))).toEqual(accepted);
    expect(await statusOf(submitPath, content(limits.sections + 1, 0))).toEqual(
      refusedAt('documents[0].content.sections'),
    );
    expect(await statusOf(submitPath, content(0, limits.tables + 1))).toEqual(refusedAt('documents[0].content.tables'));
  });

  test('inline content of 4 MiB as JSON and metadata of 64 KiB are accepted, and one byte more of either is refused', async () => {
    const frame = JSON.stringify({ sections: [{ text: '' }] }).length;
    const content = (bytes: number) => ({
      documents: [document({ content: { sections: [{ text: 'a'.repeat(bytes - frame) }] } })],
    });
    expect(await statusOf(submitPath, content(limits.inline))).toEqual(accepted);
    expect(await statusOf(submitPath, content(limits.inline + 1))).toEqual(refusedAt('documents[0].content'));
    const metadata = (bytes: number) => ({
      documents: [document({ metadata: { note: 'a'.repeat(bytes - '{"note":""}'.length) } })],
    });
    expect(await statusOf(submitPath, metadata(limits.metadata))).toEqual(accepted);
    expect(await statusOf(submitPath, metadata(limits.metadata + 1))).toEqual(refusedAt('documents[0].metadata'));
    const prototype = JSON.parse(`{"__proto__":"${'a'.repeat(limits.metadata)}"}`);
    expect(await statusOf(submitPath, { documents: [document({ metadata: prototype })] })).toEqual(
      refusedAt('documents[0].metadata'),
    );
  });

  test('a document has as many labels as its metadata allows, and very many labels that are no texts are refused', async () => {
    const labels = (length: number, label: unknown) => ({
      documents: [document({ metadata: { labels: new Array(length).fill(label) } })],
    });
    expect(await statusOf(submitPath, labels(10_000, 'red'))).toEqual(accepted);
    const most = Math.floor(limits.metadata / 3);
    expect(await statusOf(submitPath, labels(most, ''))).toEqual(refusedAt('documents[0].metadata '));
    const refused = refusedAt('documents[0].metadata.labels');
    expect(await statusOf(submitPath, labels(most + 1, ''))).toEqual(refused);
    expect(await statusOf(submitPath, labels(200_000, 1))).toEqual(refused);
  });

  test('the body of a query may have as many bytes as the limit, and a longer body is refused with 413', async () => {
    const send = async (size: number) => {
      const json = JSON.stringify({ collection: 'handbook', text: 'a', mode: 'bm25' });
      const answer = await fetch(`${service.url}/v1/query`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-tenant-id': 'acme', 'x-user-id': 'ann' },
        body: json + ' '.repeat(size - json.length),
      });
      return [answer.status, ((await answer.json()) as { readonly code?: string }).code];
    };
    expect(await send(limits.smallBody)).toEqual([200, undefined]);
    expect(await send(limits.smallBody + 1)).toEqual([413, 'too_large']);
  });

  test.each(['groups', 'principals'])(
    'an access list of 200 %s is accepted, and one of 201 is refused',
    async (member) => {
      const acl = (length: number) => ({
        documents: [document({ acl: { [member]: Array.from({ length }, (_, at) => `name-${at}`) } })],
      });
      expect(await statusOf(submitPath, acl(limits.principals))).toEqual(accepted);
      expect(await statusOf(submitPath, acl(limits.principals + 1))).toEqual(refusedAt(`documents[0].acl.${member}`));
    },
  );

  verifies(['retrieval:query-request:top-k-integer'], 'top_k is a whole number from 1 to 100', async () => {
    const query = (top_k: unknown) => ({ collection: 'handbook', text: 'a', mode: 'bm25', top_k });
    for (const top_k of [1, limits.topK]) {
      expect((await service.call(ann, '/v1/query', query(top_k))).json).toMatchObject({ meta: { top_k } });
    }
    for (const top_k of [0, limits.topK + 1, -1, 1.5, '8', null]) {
      expect(await statusOf('/v1/query', query(top_k))).toEqual(refusedAt('top_k'));
    }
  });

  verifies(
    ['retrieval:pack-request:token-budget-required'],
    'token_budget is a required whole number from 1 to 200,000',
    async () => {
      const pack = (token_budget: unknown) => ({ collection: 'handbook', text: 'a', mode: 'bm25', token_budget });
      for (const budget of [1, limits.tokenBudget]) {
        expect((await service.call(ann, '/v1/retrieve_and_pack', pack(budget))).status).toBe(200);
      }
      for (const budget of [undefined, 0, limits.tokenBudget + 1, 1.5, '100', null]) {
        expect(await statusOf('/v1/retrieve_and_pack', pack(budget))).toEqual(refusedAt('token_budget'));
      }
    },
  );

  test('a name in a grant is accepted while it can be stored with its issuer; a longer one is refused with its field', async () => {
    const { json } = await service.call(ann, '/v1/collections', {
      ...{ name: 'named', embedding_profile_id: 'test-profile' },
    });
    const grants = `/v1/collections/${json['collection_id']}/grants`;
    const grant = (holder: object) => statusOf(grants, { relation: 'reader', ...holder });
    const left = nameLimits.subject - userSubject({ issuer: 'development:acme', subject: '' }).length;
    // A Cyrillic letter is two bytes, and so six characters in percent-encoding.
    for (const longest of ['a'.repeat(left), 'я'.repeat(Math.floor(left / 6))]) {
      expect((await grant({ user_id: longest }))[0]).toBeLessThan(300);
      expect(await grant({ user_id: `${longest}я` })).toEqual(refusedAt('user_id'));
    }
    expect(await grant({ agent_id: 'я'.repeat(512) })).toEqual(refusedAt('agent_id'));
    expect((await grant({ group: 'я'.repeat(512) }))[0]).toBeLessThan(300);
    expect(await grant({ group: 'я'.repeat(513) })).toEqual(refusedAt('group'));
  });

  test('a query of 8,192 characters is accepted; an empty and a longer one are refused', async () => {
    const query = (text: string) => ({ collection: 'handbook', text, mode: 'bm25' });
    expect((await service.call(ann, '/v1/query', query('a'.repeat(limits.queryText)))).status).toBe(200);
    expect(await statusOf('/v1/query', query(''))).toEqual(refusedAt('text'));
    expect(await statusOf('/v1/query', query('a'.repeat(limits.queryText + 1)))).toEqual(refusedAt('text'));
  });

  verifies(
    ['retrieval:query-request:filters-optional'],
    'filters nested 8 deep are accepted; deeper ones, unknown forms and other JSON types are refused and the place is named',
    async () => {
      const nested = (depth: number): object =>
        depth === 1 ? { path: 'department', op: 'eq', value: 'sales' } : { not: nested(depth - 1) };
      const query = (filters: unknown) => ({ collection: 'handbook', text: 'a', mode: 'bm25', filters });
      expect((await service.call(ann, '/v1/query', query(undefined))).status).toBe(200);
      expect((await service.call(ann, '/v1/query', query(nested(limits.depth)))).status).toBe(200);
      expect(await statusOf('/v1/query', query(nested(limits.depth + 1)))).toEqual(refusedAt('filters.not'));
      expect(await statusOf('/v1/query', query({ and: [nested(1), { or: [] }] }))).toEqual(
        refusedAt('filters.and[1].or'),
      );
      for (const filters of ['sales', [], 1, null, {}]) {
        expect(await statusOf('/v1/query', query(filters))).toEqual(refusedAt('filters'));
      }
    },
  );

  test('a filter of 128 parts and an in of 1,000 values are accepted, and one more of either is refused', async () => {
    const part = { path: 'doc_id', op: 'eq', value: 'a' };
    const parts = (count: number) => ({ and: Array.from({ length: count - 1 }, () => part) });
    const values = (count: number) => ({ path: 'doc_id', op: 'in', value: Array.from({ length: count }, () => 'a') });
    const query = (filters: object) =>
      statusOf('/v1/query', { collection: 'handbook', text: 'a', mode: 'bm25', filters });
    for (const filters of [parts(limits.parts), values(limits.values)]) expect((await query(filters))[0]).toBe(200);
    expect(await query(parts(limits.parts + 1))).toEqual(refusedAt(`filters.and[${limits.parts - 1}]`));
    expect(await query(values(limits.values + 1))).toEqual(refusedAt('filters.value'));
  });

  test('names, ids, keys and addresses of a document are accepted at their greatest length, and one unit more is refused', async () => {
    const uri = (length: number) => `https://documents.example/${'a'.repeat(length - 26)}`;
    const hash = 'a'.repeat(64);
    const forms: Readonly<Record<string, readonly [greatest: number, form: (length: number) => object]>> = {
      'acl.groups[0]': [512, (length) => ({ acl: { groups: ['g'.repeat(length)] } })],
      'metadata.url': [4_096, (length) => ({ metadata: { url: uri(length) } })],
      'acl.principals[0]': [512, (length) => ({ acl: { principals: ['p'.repeat(length)] } })],
      'content_ref.uri': [
        4_096,
        (length) => ({
          ...{ content: undefined, content_hash: hash },
          content_ref: { uri: uri(length), content_hash: hash },
        }),
      ],
    };
    for (const [path, [greatest, form]] of Object.entries(forms)) {
      const submit = (length: number) => statusOf(submitPath, { documents: [document(form(length))] });
      expect(await submit(greatest), path).toEqual(accepted);
      expect(await submit(greatest + 1), path).toEqual(refusedAt(`documents[0].${path}`));
    }
  });

  test('ids and keys of 1,024 bytes are stored, listed and deleted, and one character more is refused', async () => {
    const { json } = await service.call(ann, '/v1/collections', {
      name: 'bytes',
      embedding_profile_id: 'test-profile',
    });
    const collection = `/v1/collections/${json['collection_id']}`;
    for (const [first, bytes] of [
      [0x61, 1],
      [0x430, 2],
      [0x4e00, 3],
      [0x1_0400, 4],
    ] as const) {
      // The text has different letters, because PostgreSQL compresses repeated letters before it compares the size with
      // its limit.
      const letters = (count: number, step: number) =>
        Array.from({ length: count }, (_, at) => String.fromCodePoint(first + ((at * step * at) % 26))).join('');
      const [most, rest] = [Math.floor(1_024 / bytes), 'x'.repeat(1_024 % bytes)];
      const keys = {
        doc_id: letters(most, 7) + rest,
        idempotency_key: letters(most, 11) + rest,
        content_hash: letters(most, 5) + rest,
      };
      const submit = (more: object) =>
        statusOf(submitPath, { documents: [{ ...documentOf('bytes', 'a', 'A text.'), ...keys, ...more }] });
      expect(await submit({}), String(bytes)).toEqual(accepted);
      for (const [name, value] of Object.entries(keys)) {
        expect(await submit({ [name]: `${value}x` })).toEqual(refusedAt(`documents[0].${name}`));
      }
      const one = (id: string) => service.send(ann, 'DELETE', `${collection}/documents/${encodeURIComponent(id)}`);
      expect((await one(keys.doc_id)).status).toBe(202);
      expect((await one(`${keys.doc_id}x`)).status).toBe(404);
    }
  });

  test('members of a collection are accepted at their least and greatest values, and refused beyond them', async () => {
    const create = (more: object) => {
      made += 1;
      return statusOf('/v1/collections', { name: `edge-${made}`, embedding_profile_id: 'test-profile', ...more });
    };
    const chunking = (size: number, overlap: number) => ({ chunking: { size, overlap } });
    const members: readonly (readonly [path: string, allowed: readonly object[], refused: readonly object[]])[] = [
      ['name', [{ name: 'n' }, { name: 'n'.repeat(255) }], [{ name: '' }, { name: 'n'.repeat(256) }]],
      ['description', [{ description: 'd'.repeat(4_096) }], [{ description: 'd'.repeat(4_097) }]],
      ['chunking.size', [chunking(100, 0), chunking(8_000, 0)], [chunking(99, 0), chunking(8_001, 0)]],
      ['chunking.overlap', [chunking(100, 50)], [chunking(100, 51), chunking(100, -1)]],
    ];
    for (const [path, allowed, refused] of members) {
      for (const body of allowed) expect((await create(body))[0], path).toBe(201);
      for (const body of refused) expect(await create(body), path).toEqual(refusedAt(path));
    }
  });

  verifies(
    ['retrieval:protocol:http-json', 'retrieval:errors:common-body', 'retrieval:error-body:fields'],
    'a body of 16 MiB is accepted; a larger one, another type, broken JSON, repeated keys and broken UTF-8 are refused',
    async () => {
      const post = async (body: string | Uint8Array<ArrayBuffer>, type = 'application/json') => {
        const headers = { 'content-type': type, 'x-tenant-id': 'acme', 'x-user-id': 'ann', 'x-trace-id': 'mine' };
        const answer = await fetch(`${service.url}${submitPath}`, { method: 'POST', headers, body });
        const json = (await answer.json()) as { code: string };
        expect(json).toEqual({ code: json.code, message: expect.stringMatching(/./), trace_id: 'mine' });
        expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
        return [answer.status, json.code];
      };
      const padded = (bytes: number) => `{}${' '.repeat(bytes - 2)}`;
      expect(await post(padded(limits.body))).toEqual([400, 'invalid_document']);
      expect(await post(padded(limits.body + 1))).toEqual([413, 'too_large']);
      expect(await post('{}', 'text/plain')).toEqual([415, 'unsupported_media_type']);
      for (const body of ['', '{', '[]', 'null', '{"text":"a","text":"b"}', new Uint8Array([0x22, 0xff, 0x22])]) {
        expect(await post(body)).toEqual([400, 'invalid_document']);
      }
    },
  );

  test('U+0000 in a path, a query parameter or a member of a body is refused with 400 or 404', async () => {
    const { json } = await service.call(ann, '/v1/collections', {
      name: 'without-nul',
      embedding_profile_id: 'test-profile',
    });
    const collection = `/v1/collections/${json['collection_id']}`;
    const paths: readonly (readonly [string, number])[] = [
      ['/v1/jobs?collection=a%00', 400],
      ['/v1/jobs?collection=without-nul', 200],
      [`${collection}/documents/a%00`, 404],
      ['/v1/groups/a%00/members', 404],
      ['/v1/groups/a/members', 403],
    ];
    for (const [path, expected] of paths) {
      expect([path, (await service.call(ann, path)).status]).toEqual([path, expected]);
    }
    const patch = async (description: string) => (await service.send(ann, 'PATCH', collection, { description })).status;
    expect([await patch('a\0'), await patch('a')]).toEqual([400, 200]);
    const judged = (text: string, doc_id: string) => [{ text, relevant: [{ doc_id }] }];
    for (const [name, judgements] of [
      ['a\0', judged('a', 'd')],
      ['without-nul', judged('a\0', 'd')],
      ['without-nul', judged('a', 'd\0')],
    ] as const) {
      const { status, json } = await service.call(ann, '/v1/evaluations', { collection: name, judgements });
      expect([status, json['code']]).toEqual([400, 'invalid_document']);
    }
    for (const body of [
      { collection: 'a\0', text: 'a' },
      { collection: 'without-nul', text: 'a\0' },
    ]) {
      expect((await service.call(ann, '/v1/query', body)).status).toBe(400);
    }
  });
});
