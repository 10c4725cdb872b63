import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestKey, signText, startJwksServer, type TestKey } from '#identity/testing/test-issuer';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { type OpenedMemory, openMemory } from '../testing/open-memory.ts';

const issuer = 'https://issuer.example';

describe.skipIf(missingPostgres !== undefined)(onPostgres('memories of verified users'), () => {
  const parts = new AsyncDisposableStack();
  let key: TestKey;
  let memory: OpenedMemory;

  const tokenOf = (claims: object = {}) => {
    const now = Math.floor(Date.now() / 1_000);
    const body = {
      iss: issuer,
      sub: 'ann',
      aud: 'portcullis',
      exp: now + 600,
      act: { sub: 'helper' },
      tenants: ['acme'],
    };
    return signText(key, JSON.stringify({ ...body, ...claims }));
  };
  const send = async (
    method: string,
    path: string,
    token: string,
    body?: object,
    more: Record<string, string> = {},
  ) => {
    const answer = await fetch(memory.url + path, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      headers: { 'content-type': 'application/json', 'x-tenant-id': 'acme', authorization: `Bearer ${token}`, ...more },
    });
    return { status: answer.status, json: (await answer.json()) as Readonly<Record<string, unknown>> };
  };

  beforeAll(async () => {
    key = await createTestKey('ES256', 'ec');
    const keys = parts.use(await startJwksServer(key));
    const folder = parts.use(temporaryFolder());
    const issuersFile = join(folder.path, 'issuers.yaml');
    const trusted = { issuer, jwksUrl: keys.url.href, audience: 'portcullis', tenantsClaim: 'tenants' };
    writeFileSync(issuersFile, JSON.stringify({ issuers: [trusted] }));
    memory = parts.use(await openMemory({ config: { identity: { mode: 'production', issuersFile } } }));
  });
  afterAll(() => parts.disposeAsync());

  test('in production the token names the user, and headers of development mode are not read', async () => {
    const body = { messages: [{ role: 'user', content: 'I live in Lisbon.' }], agent_id: 'tutor' };
    const added = await send('POST', '/v1/memories', await tokenOf(), body, { 'x-user-id': 'bob' });
    expect(added.status).toBe(202);
    const listed = async (token: string) =>
      (await send('GET', '/v1/memories?agent_id=tutor', token)).json['results'] as readonly object[];
    await until('the memory is there', async () => (await listed(await tokenOf())).length === 1);
    expect(await listed(await tokenOf())).toMatchObject([{ memory: 'I live in Lisbon', user_id: 'ann' }]);
    expect(await listed(await tokenOf({ sub: 'bob' }))).toEqual([]);
    const foreign = await send('GET', '/v1/memories?user_id=ann', await tokenOf({ sub: 'bob' }));
    expect(foreign).toMatchObject({ status: 403, json: { code: 'wrong_user_id' } });
    const named = await send('GET', `/v1/memories?user_id=${encodeURIComponent(`${issuer}|ann`)}`, await tokenOf());
    expect(named.json['count']).toBe(1);
  });

  test.each([
    ['no act chain', { act: undefined }, {}, 401, 'unauthorized'],
    ['an expired token', { exp: 1 }, {}, 401, 'unauthorized'],
    ['another audience', { aud: 'other' }, {}, 401, 'unauthorized'],
    ['a tenant that is not the user’s', {}, { 'x-tenant-id': 'other' }, 403, 'forbidden'],
    ['no tenant', {}, { 'x-tenant-id': '' }, 401, 'unauthorized'],
  ] as const)('in production a request with %s is refused', async (_what, claims, headers, status, code) => {
    const answer = await send('GET', '/v1/memories?agent_id=tutor', await tokenOf(claims), undefined, headers);
    expect(answer).toMatchObject({ status, json: { code } });
  });

  test('a request without a token is refused although it names a user', async () => {
    const answer = await fetch(`${memory.url}/v1/memories?agent_id=tutor`, {
      headers: { 'x-tenant-id': 'acme', 'x-user-id': 'ann' },
    });
    expect(answer.status).toBe(401);
  });
});
