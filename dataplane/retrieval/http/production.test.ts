import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { createTestKey, type JwksServer, signText, startJwksServer, type TestKey } from '#identity/testing/test-issuer';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { verifies } from '../../../e2e/support/verifies.ts';
import { documentOf, type OpenedRetrieval, openRetrieval } from '../testing/open-retrieval.ts';

const issuer = 'https://issuer.example';
const awayIssuer = 'https://away.example';

describe.skipIf(missingPostgres !== undefined)(onPostgres('production identity over HTTP'), () => {
  const parts = new AsyncDisposableStack();
  let key: TestKey;
  let service: OpenedRetrieval;

  const seconds = () => Math.floor(Date.now() / 1_000);
  const tokenOf = (claims: object = {}, signer = key) =>
    signText(
      signer,
      JSON.stringify({
        iss: issuer,
        sub: 'ann',
        aud: 'portcullis',
        exp: seconds() + 600,
        act: { sub: 'helper' },
        groups: ['staff'],
        tenants: ['acme'],
        ...claims,
      }),
    );
  const as = (token: string, more = {}) => ({ authorization: `Bearer ${token}`, 'x-tenant-id': 'acme', ...more });
  const send = async (headers: Record<string, string>, path = '/v1/collections', body?: object) => {
    const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const answer = await fetch(service.url + path, {
      ...sent,
      headers: { 'content-type': 'application/json', ...headers },
    });
    return { status: answer.status, json: (await answer.json()) as Readonly<Record<string, unknown>> };
  };
  const unauthorized = { status: 401, json: { code: 'unauthorized' } };
  const found = async (headers: Record<string, string>) => {
    const { status, json } = await send(headers, '/v1/query', { collection: 'open', text: 'harbour', mode: 'bm25' });
    if (status !== 200) return status;
    return (json['items'] as readonly { readonly doc_id: string }[]).map(({ doc_id }) => doc_id).sort();
  };

  beforeAll(async () => {
    key = await createTestKey('ES256', 'ec');
    const keys: JwksServer = parts.use(await startJwksServer(key));
    const away: JwksServer = parts.use(await startJwksServer(key));
    away.answerWith((outgoing) => outgoing.writeHead(500).end());
    const folder = parts.use(temporaryFolder());
    const issuersFile = join(folder.path, 'issuers.yaml');
    const shared = { audience: 'portcullis', groupsClaim: 'groups', tenantsClaim: 'tenants' };
    const issuers = [
      { issuer, jwksUrl: keys.url.href, ...shared },
      { issuer: awayIssuer, jwksUrl: away.url.href, ...shared },
    ];
    writeFileSync(issuersFile, JSON.stringify({ issuers }));
    service = parts.use(await openRetrieval({ config: { identity: { mode: 'production', issuersFile } } }));
    const headers = as(await tokenOf());
    const collection = { name: 'open', visibility: 'public', embedding_profile_id: 'test-profile' };
    expect(await send(headers, '/v1/collections', collection)).toMatchObject({ status: 201 });
    const documents = [
      documentOf('open', 'staff', 'harbour for staff'),
      documentOf('open', 'sales', 'harbour for sales', { acl: { groups: ['sales'] } }),
      documentOf('open', 'bob', 'harbour for bob', { acl: { principals: ['bob'] } }),
    ];
    const { json } = await send(headers, '/v1/documents:submit', { documents });
    const jobs = json['jobs'] as readonly { readonly job_id: string }[];
    for (const { job_id } of jobs) {
      await until('the job is done', async () => {
        return (await send(headers, `/v1/jobs/${job_id}`)).json['status'] === 'DONE' || undefined;
      });
    }
  });
  afterAll(() => parts.disposeAsync());

  verifies(
    ['retrieval:auth:valid-jwt', 'retrieval:acl:same-agent-two-users'],
    'a token with an act chain is accepted, and one agent finds different chunks for two users',
    async () => {
      expect(await found(as(await tokenOf()))).toEqual(['staff']);
      expect(await found(as(await tokenOf({ sub: 'bob', groups: ['sales'] })))).toEqual(['bob', 'sales']);
    },
  );

  verifies(
    ['retrieval:auth:user-from-token', 'retrieval:auth:groups-from-token', 'retrieval:auth:agent-from-token'],
    'identity headers sent with a token change nothing',
    async () => {
      const headers = { 'x-user-id': 'bob', 'x-groups': 'sales', 'x-principals': 'bob', 'x-agent-id': 'other' };
      expect(await found(as(await tokenOf(), headers))).toEqual(['staff']);
    },
  );

  verifies(
    [
      'retrieval:auth:jwt-required',
      'retrieval:error:bearer-missing',
      'retrieval:error:act-chain-absent',
      'retrieval:error:act-chain-expired',
      'retrieval:header:tenant-id',
      'retrieval:collections-create:user-identity-required',
    ],
    'a missing or invalid token, a missing or expired act chain, and a missing tenant are each answered 401',
    async () => {
      const other = await createTestKey('ES256', 'ec');
      const refused = [
        { 'x-tenant-id': 'acme', 'x-user-id': 'ann' },
        as(await tokenOf({}, other)),
        as(`${await tokenOf()}x`),
        as(await tokenOf({ act: undefined })),
        as(await tokenOf({ act: { sub: 'helper', exp: seconds() - 3_600 } })),
        as(await tokenOf({ exp: seconds() - 3_600 })),
        { authorization: `Bearer ${await tokenOf()}` },
      ];
      const operations: readonly (readonly [path: string, body?: object])[] = [
        ['/v1/collections'],
        ['/v1/collections', { name: 'new', embedding_profile_id: 'test-profile' }],
        ['/v1/query', { collection: 'open', text: 'harbour', mode: 'bm25' }],
        ['/v1/retrieve_and_pack', { collection: 'open', text: 'harbour', token_budget: 9 }],
        ['/v1/documents:submit', { documents: [documentOf('open', 'new', 'text')] }],
        ['/v1/jobs/6f2c1a1e-1111-4111-8111-111111111111'],
        ['/v1/collections/6f2c1a1e-1111-4111-8111-111111111111'],
        ['/v1/collections/6f2c1a1e-1111-4111-8111-111111111111:reindex', {}],
      ];
      for (const [at, headers] of refused.entries()) {
        for (const [path, body] of operations) {
          const { status, json } = await send(headers, path, body);
          expect([at, path, status, json['code']]).toEqual([at, path, unauthorized.status, unauthorized.json.code]);
        }
      }
      expect((await send(as(await tokenOf()))).json).toMatchObject([{ name: 'open' }]);
      expect((await fetch(`${service.url}/health`)).status).toBe(200);
    },
  );

  verifies(
    ['retrieval:error:idp-unavailable'],
    'while the keys of an issuer cannot be fetched, its callers are answered 503 authz_unavailable without data',
    async () => {
      const { status, json } = await send(as(await tokenOf({ iss: awayIssuer })));
      expect([status, json]).toEqual([
        503,
        { code: 'authz_unavailable', message: expect.any(String), trace_id: expect.any(String) },
      ]);
    },
  );

  verifies(
    ['retrieval:error:forbidden'],
    'a tenant that the token does not name is answered 403, and one that it names gets no data of another',
    async () => {
      expect(await found(as(await tokenOf(), { 'x-tenant-id': 'globex' }))).toBe(403);
      expect(await found(as(await tokenOf({ tenants: ['acme', 'globex'] }), { 'x-tenant-id': 'globex' }))).toBe(404);
    },
  );
});
