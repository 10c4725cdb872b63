import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { verifies } from '../../../e2e/support/verifies.ts';
import { documentOf, type OpenedRetrieval, openRetrieval } from '../testing/open-retrieval.ts';

const ann = { user: 'ann', groups: ['staff'] };
const base = { ...documentOf('handbook', 'form', 'A text.'), content_hash: 'h', idempotency_key: 'k' };
const otherHash = 'ef'.repeat(32);
const ref = { uri: 'https://files.example.org/a.json', content_hash: 'ab'.repeat(32) };
/** Marks a member that is left out of the document. */
const absent = undefined;
const inline = (content: unknown) => ({ content });
const byRef = (content_ref: unknown) => ({ content: absent, content_ref });
const metadata = (value: unknown) => ({ metadata: value });
const acl = (value: unknown) => ({ acl: value });

type Form = readonly [id: `retrieval:${string}`, changes: Readonly<Record<string, unknown>>, path: string];

const refused: readonly Form[] = [
  ['retrieval:document:extra-property', { owner: 'ann' }, ''],
  ['retrieval:document:op-unknown', { op: 'insert' }, '.op'],
  ['retrieval:document:collection-required', { collection: absent }, '.collection'],
  ['retrieval:document:collection-required', { collection: '' }, '.collection'],
  ['retrieval:document:collection-required', { collection: 1 }, '.collection'],
  ['retrieval:document:tenant-id-required', { tenant_id: absent }, '.tenant_id'],
  ['retrieval:document:tenant-id-required', { tenant_id: '' }, '.tenant_id'],
  ['retrieval:document:tenant-id-required', { tenant_id: null }, '.tenant_id'],
  ['retrieval:document:doc-id-required', { doc_id: absent }, '.doc_id'],
  ['retrieval:document:doc-id-required', { doc_id: '' }, '.doc_id'],
  ['retrieval:document:doc-id-required', { doc_id: 7 }, '.doc_id'],
  ['retrieval:document:doc-id-required', { doc_id: 'x'.repeat(1_025) }, '.doc_id'],
  ['retrieval:document:doc-id-required', { doc_id: 'a\0b' }, '.doc_id'],
  ['retrieval:document:idempotency-key-required', { idempotency_key: '\0' }, '.idempotency_key'],
  ['retrieval:document:content-hash-required', { content_hash: 'a\0' }, '.content_hash'],
  ['retrieval:document-acl:groups-strings', acl({ groups: ['a\0'] }), '.acl.groups[0]'],
  ['retrieval:document:content-required', { content: absent }, '.content'],
  ['retrieval:document:content-object', inline('text'), '.content'],
  ['retrieval:document:content-object', inline(['text']), '.content'],
  ['retrieval:content:title-string', inline({ title: 1 }), '.content.title'],
  ['retrieval:content:sections-array', inline({ sections: { text: 'a' } }), '.content.sections'],
  ['retrieval:content:sections-array', inline({ sections: ['a'] }), '.content.sections[0]'],
  ['retrieval:content:section-text-required', inline({ sections: [{ heading: 'a' }] }), '.content.sections[0].text'],
  ['retrieval:content:section-extra-key', inline({ sections: [{ text: 'a', page: 1 }] }), '.content.sections[0]'],
  ['retrieval:content:tables-array', inline({ tables: 'a' }), '.content.tables'],
  ['retrieval:content:tables-array', inline({ tables: [1] }), '.content.tables[0]'],
  ['retrieval:content-ref:object', byRef('https://files.example.org/a.json'), '.content_ref'],
  ['retrieval:content-ref:uri-required', byRef({ content_hash: ref.content_hash }), '.content_ref.uri'],
  ['retrieval:content-ref:uri-other-scheme', byRef({ ...ref, uri: 'http://files.example.org/a' }), '.content_ref.uri'],
  ['retrieval:content-ref:uri-other-scheme', byRef({ ...ref, uri: 'file:///etc/passwd' }), '.content_ref.uri'],
  ['retrieval:content-ref:content-hash-required', byRef({ uri: ref.uri }), '.content_ref.content_hash'],
  ['retrieval:content-ref:content-hash-equal', byRef({ ...ref, content_hash: otherHash }), '.content_ref.content_hash'],
  ...['hh', 'ab'.repeat(31), 'ab'.repeat(33), `sha512:${'ab'.repeat(32)}`, `${'ab'.repeat(31)}xy`].map(
    (content_hash): Form => [
      'retrieval:content-ref:content-hash-required',
      byRef({ ...ref, content_hash }),
      '.content_ref.content_hash',
    ],
  ),
  ['retrieval:content-ref:bytes', byRef({ ...ref, bytes: 0 }), '.content_ref.bytes'],
  ['retrieval:content-ref:bytes', byRef({ ...ref, bytes: -1 }), '.content_ref.bytes'],
  ['retrieval:content-ref:bytes', byRef({ ...ref, bytes: 1.5 }), '.content_ref.bytes'],
  ['retrieval:content-ref:extra-key', byRef({ ...ref, token: 'a' }), '.content_ref'],
  [
    'retrieval:content-ref:with-heavy-content',
    { content: { sections: [{ text: 'a' }] }, content_ref: ref },
    '.content_ref',
  ],
  ['retrieval:metadata:optional', metadata('a'), '.metadata'],
  ['retrieval:metadata:source-string', metadata({ source: 1 }), '.metadata.source'],
  ['retrieval:metadata:url-uri', metadata({ url: 1 }), '.metadata.url'],
  ['retrieval:metadata:url-uri', metadata({ url: 'no address' }), '.metadata.url'],
  ['retrieval:metadata:url-uri', metadata({ url: 'https://a.example/a b' }), '.metadata.url'],
  ['retrieval:metadata:url-uri', metadata({ url: ' https://a.example/' }), '.metadata.url'],
  ['retrieval:metadata:url-uri', metadata({ url: 'https://a.example}/' }), '.metadata.url'],
  ['retrieval:metadata:url-uri', metadata({ url: 'https://a.example/\u0000' }), '.metadata.url'],
  ['retrieval:metadata:labels-strings', metadata({ labels: 'a' }), '.metadata.labels'],
  ['retrieval:metadata:labels-strings', metadata({ labels: ['a', 1] }), '.metadata.labels[1]'],
  ['retrieval:metadata:valid-from-date-time', metadata({ valid_from: 'yesterday' }), '.metadata.valid_from'],
  ['retrieval:metadata:valid-from-date-time', metadata({ valid_from: '2026-02-30T00:00:00Z' }), '.metadata.valid_from'],
  ['retrieval:metadata:valid-from-date-time', metadata({ valid_from: '0000-01-01T00:00:00Z' }), '.metadata.valid_from'],
  [
    'retrieval:metadata:valid-from-date-time',
    metadata({ valid_from: '0001-01-01T00:00:00+00:01' }),
    '.metadata.valid_from',
  ],
  [
    'retrieval:metadata:valid-from-date-time',
    metadata({ valid_from: '2026-01-01T00:00:00+24:00' }),
    '.metadata.valid_from',
  ],
  [
    'retrieval:metadata:valid-until-date-time',
    metadata({ valid_until: '9999-12-31T23:59:59-00:01' }),
    '.metadata.valid_until',
  ],
  ['retrieval:metadata:valid-until-date-time', metadata({ valid_until: '2026-01-01' }), '.metadata.valid_until'],
  ['retrieval:document-acl:optional', acl('staff'), '.acl'],
  ['retrieval:document-acl:groups-strings', acl({ groups: 'staff' }), '.acl.groups'],
  ['retrieval:document-acl:groups-strings', acl({ groups: [1] }), '.acl.groups[0]'],
  ['retrieval:document-acl:principals-strings', acl({ principals: 'ann' }), '.acl.principals'],
  ['retrieval:document-acl:principals-strings', acl({ principals: [null] }), '.acl.principals[0]'],
  ['retrieval:document-acl:scope-object', acl({ groups: ['staff'], scope: 'all' }), '.acl.scope'],
  ['retrieval:document-acl:extra-key', acl({ groups: ['staff'], users: ['ann'] }), '.acl'],
  ['retrieval:document:content-hash-required', { content_hash: absent }, '.content_hash'],
  ['retrieval:document:content-hash-required', { content_hash: '' }, '.content_hash'],
  ['retrieval:document:content-hash-required', { content_hash: 1 }, '.content_hash'],
  ['retrieval:document:idempotency-key-required', { idempotency_key: absent }, '.idempotency_key'],
  ['retrieval:document:idempotency-key-required', { idempotency_key: '' }, '.idempotency_key'],
  ['retrieval:document:idempotency-key-required', { idempotency_key: 1 }, '.idempotency_key'],
  ['retrieval:empty-acl:reject', acl(absent), '.acl'],
  ['retrieval:empty-acl:reject', acl({}), '.acl'],
  ['retrieval:empty-acl:reject', acl({ groups: [], principals: [], scope: { all: true } }), '.acl'],
];

const accepted: readonly (readonly [`retrieval:${string}`, Readonly<Record<string, unknown>>, collection?: string])[] =
  [
    ['retrieval:document:op-upsert', { op: 'upsert' }],
    ['retrieval:document:delete-without-content', { op: 'delete', content: absent }],
    ['retrieval:document:doc-id-required', { doc_id: 'x'.repeat(1_024) }],
    ['retrieval:content:section-heading-optional', inline({ sections: [{ text: 'a' }, { text: 'b', heading: 'B' }] })],
    ['retrieval:content:other-keys', inline({ title: 'a', summary: { short: 'b' }, pages: [1] })],
    ['retrieval:content-ref:bytes', byRef({ ...ref, bytes: 1 })],
    ['retrieval:content-ref:content-hash-required', byRef({ ...ref, content_hash: 'AB'.repeat(32) })],
    ['retrieval:content-ref:instead-of-content', byRef({ ...ref, content_hash: `sha256:${'cd'.repeat(32)}` })],
    ['retrieval:metadata:optional', metadata(absent)],
    ['retrieval:metadata:source-string', metadata({ source: 'wiki' })],
    ['retrieval:metadata:url-uri', metadata({ url: 'https://wiki.example.org/a' })],
    ['retrieval:metadata:url-uri', metadata({ url: 'https://вики.example/ё?a=b#c' })],
    ['retrieval:metadata:labels-strings', metadata({ labels: ['a', 'b'] })],
    ['retrieval:metadata:valid-from-date-time', metadata({ valid_from: '2026-01-01T00:00:00+03:00' })],
    ['retrieval:metadata:valid-from-date-time', metadata({ valid_from: '2026-01-01T00:00:00+23:59' })],
    ['retrieval:metadata:valid-from-date-time', metadata({ valid_from: '0001-01-01T00:00:00-00:01' })],
    ['retrieval:metadata:valid-until-date-time', metadata({ valid_until: '2036-02-29T00:00:00.5Z' })],
    ['retrieval:metadata:valid-until-date-time', metadata({ valid_until: '2036-02-29T00:00:00-23:59' })],
    ['retrieval:metadata:valid-until-date-time', metadata({ valid_until: '9999-12-31T23:59:59.9999999Z' })],
    ['retrieval:metadata:other-keys', metadata({ department: 'sales', year: 2_026 })],
    ['retrieval:document-acl:optional', acl(absent), 'noticeboard'],
    ['retrieval:empty-acl:public', acl({}), 'noticeboard'],
    ['retrieval:empty-acl:strictest', acl({ scope: {} }), 'safe'],
    ['retrieval:document-acl:principals-strings', acl({ principals: ['ann', 'bob'] })],
    ['retrieval:document-acl:scope-object', acl({ groups: ['staff'], scope: { any: ['key'] } })],
  ];

describe.skipIf(missingPostgres !== undefined)(onPostgres('forms of documents'), () => {
  let service: OpenedRetrieval;
  const submit = (...documents: readonly object[]) => service.call(ann, '/v1/documents:submit', { documents });

  beforeAll(async () => {
    service = await openRetrieval();
    for (const more of [
      { name: 'handbook' },
      { name: 'noticeboard', visibility: 'public' },
      { name: 'safe', empty_acl_policy: 'strictest' },
    ]) {
      const body = { embedding_profile_id: 'test-profile', ...more };
      expect((await service.call(ann, '/v1/collections', body)).status).toBe(201);
    }
  });
  afterAll(() => service?.[Symbol.asyncDispose]());

  for (const [at, [id, changes, path]] of refused.entries()) {
    verifies(
      [id, 'retrieval:error:invalid-document'],
      `document form ${at} is refused with its place, and the batch around it stores nothing: ${describeForm(changes)}`,
      async () => {
        const answer = await submit(base, hashed({ ...base, ...changes }));
        const { code, message } = answer.json;
        expect([answer.status, code]).toEqual([400, 'invalid_document']);
        expect(message).toContain(`documents[1]${path}`);
        expect(message).not.toContain('documents[0]');
      },
    );
  }

  test('the error does not repeat the name of an unknown member of a document', async () => {
    const answer = await submit({ ...base, 'ann-the-owner': 1 });
    expect(answer.json['message']).toContain('documents[0]');
    expect(answer.json['message']).not.toContain('ann-the-owner');
  });

  verifies(
    ['retrieval:empty-acl:reject', 'retrieval:submit:accepted'],
    'a document that was part of many refused batches is new when it is submitted alone',
    async () => {
      const answer = await submit(base);
      expect([answer.status, answer.json]).toMatchObject([202, { jobs: [{ status: 'PENDING' }] }]);
    },
  );

  for (const [at, [id, changes, collection = 'handbook']] of accepted.entries()) {
    verifies([id], `document form ${at} is accepted with 202: ${describeForm(changes)}`, async () => {
      const answer = await submit(hashed({ ...base, collection, idempotency_key: `accepted-${at}`, ...changes }));
      expect([answer.status, answer.json]).toMatchObject([202, { jobs: [{ status: 'PENDING' }] }]);
    });
  }
});

/** A reference with the hash of its document, so that it is valid except for one fault. */
function hashed(document: Readonly<Record<string, unknown>>): object {
  const hash = (document['content_ref'] as { readonly content_hash?: string } | undefined)?.content_hash;
  const isMadeEqual = hash !== undefined && hash !== otherHash;
  return isMadeEqual ? { ...document, content_hash: hash } : document;
}

function describeForm(changes: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(changes, (_, value: unknown) => (value === undefined ? 'absent' : value)).slice(0, 90);
}
