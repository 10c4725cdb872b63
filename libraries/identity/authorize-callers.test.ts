import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createFakeClock } from '#kit/testing/fake-clock';
import { createDevelopmentAuthorizer, createHeaderAuthorizer, createTokenAuthorizer } from './authorize-callers.ts';
import { createVerifier } from './create-verifier.ts';
import { createTestKey, type JwksServer, signText, startJwksServer, type TestKey } from './testing/test-issuer.ts';

const issuer = 'https://issuer.example';
const clock = createFakeClock();
const now = clock.date().getTime() / 1_000;
const trusted = {
  issuer,
  audience: 'portcullis',
  groupsClaim: 'groups',
  tenantsClaim: 'https://portcullis.example/tenants',
  tenants: ['everywhere'],
};
const good = {
  iss: issuer,
  sub: 'ann',
  aud: 'portcullis',
  exp: now + 300,
  act: { sub: 'helper', act: { sub: 'portal' } },
  groups: ['staff'],
  'https://portcullis.example/tenants': ['acme', 'globex'],
};

let key: TestKey;
let server: JwksServer;
beforeAll(async () => {
  key = await createTestKey('ES256', 'ec');
  server = await startJwksServer(key);
});
afterAll(() => server[Symbol.asyncDispose]());

type Headers = Readonly<Record<string, string>>;
const flat = (headers: Headers): string[] => Object.entries(headers).flat();
const utf8 = (text: string): string => Buffer.from(text).toString('latin1');

async function authorizeToken(claims: object, headers: Headers = { 'X-Tenant-Id': 'acme' }) {
  const verifier = createVerifier({ issuers: [{ ...trusted, jwks: server.url }], clock });
  const token = await signText(key, JSON.stringify(claims));
  const authorizer = createTokenAuthorizer({ verifier, issuers: [trusted], clock });
  return authorizer.authorize(flat({ Authorization: `Bearer ${token}`, ...headers }));
}
const fault = (code: string) => ({ kind: 'error', code });

describe('callers by token', () => {
  test('a token determines user, agent, groups and the tenant of the header', async () => {
    expect(await authorizeToken(good)).toEqual({
      kind: 'caller',
      caller: {
        tenant: 'acme',
        user: { issuer, subject: 'ann' },
        agent: { issuer, subject: 'helper' },
        groups: ['staff'],
        principals: [],
        issuers: [issuer],
      },
    });
  });

  test('identity headers that are sent with a token have no effect', async () => {
    const headers = { 'X-User-Id': 'bob', 'X-Groups': 'board', 'X-Principals': 'eve', 'X-Agent-Id': 'other' };
    expect(await authorizeToken(good, { 'X-Tenant-Id': 'acme', ...headers })).toEqual(await authorizeToken(good));
  });

  test.each<[string, object, string, object]>([
    ['a tenant of the claim', {}, 'globex', { kind: 'caller' }],
    ['a tenant of the issuer', {}, 'everywhere', { kind: 'caller' }],
    ['one tenant as text', { [trusted.tenantsClaim]: 'acme' }, 'acme', { kind: 'caller' }],
    ['a tenant that the token does not have', {}, 'initech', fault('forbidden')],
    ['a tenant in another case', {}, 'Acme', fault('forbidden')],
    ['a token without tenants of its own', { [trusted.tenantsClaim]: undefined }, 'acme', fault('forbidden')],
    ['tenants that are not names', { [trusted.tenantsClaim]: [1] }, 'acme', fault('unauthorized')],
    ['groups that are not names', { groups: { a: 1 } }, 'acme', fault('unauthorized')],
    ['no act chain', { act: undefined }, 'acme', fault('unauthorized')],
    ['an empty act chain', { act: {} }, 'acme', fault('unauthorized')],
    ['an actor that has expired', { act: { sub: 'a', exp: now } }, 'acme', fault('unauthorized')],
    [
      'an inner actor that has expired',
      { act: { sub: 'a', act: { sub: 'b', exp: 1 } } },
      'acme',
      fault('unauthorized'),
    ],
    ['an actor whose expiry is not a time', { act: { sub: 'a', exp: 'never' } }, 'acme', fault('unauthorized')],
    ['an actor that has not expired', { act: { sub: 'a', exp: now + 1 } }, 'acme', { kind: 'caller' }],
    ['an expired token', { exp: now - 31 }, 'acme', fault('unauthorized')],
    ['a token for another audience', { aud: 'other' }, 'acme', fault('unauthorized')],
  ])('the decision on a request with a token is correct: %s', async (_what, change, tenant, expected) => {
    expect(await authorizeToken({ ...good, ...change }, { 'X-Tenant-Id': tenant })).toMatchObject(expected);
  });

  test('a token names at most 100 groups', async () => {
    const groups = (count: number) => ({ ...good, groups: Array.from({ length: count }, (_, at) => `g${at}`) });
    expect(await authorizeToken(groups(100))).toMatchObject({ caller: { groups: { length: 100 } } });
    expect(await authorizeToken(groups(101))).toEqual(fault('unauthorized'));
  });

  test('a token request without a tenant header or a bearer token is refused with 401', async () => {
    expect(await authorizeToken(good, {})).toEqual(fault('unauthorized'));
    expect(await authorizeToken(good, { 'X-Tenant-Id': 'acme', 'x-tenant-id': 'acme' })).toEqual(fault('unauthorized'));
    const authorizer = createTokenAuthorizer({ verifier: { verify: () => Promise.reject() }, issuers: [trusted] });
    const headers = { 'X-Tenant-Id': 'acme', 'X-User-Id': 'ann', 'X-Agent-Id': 'helper' };
    expect(await authorizer.authorize(flat(headers))).toEqual(fault('unauthorized'));
  });

  test('a token that cannot be verified, because no key can be fetched, is answered with authz_unavailable', async () => {
    const gone = new URL('http://127.0.0.1:1/jwks.json');
    const verifier = createVerifier({ issuers: [{ ...trusted, jwks: gone }], clock });
    const token = await signText(key, JSON.stringify(good));
    const authorizer = createTokenAuthorizer({ verifier, issuers: [trusted], clock });
    expect(await authorizer.authorize(flat({ Authorization: `Bearer ${token}`, 'X-Tenant-Id': 'acme' }))).toEqual(
      fault('authz_unavailable'),
    );
  });

  test('an issuer with a name of development mode is not trusted', () => {
    const verifier = createVerifier({ issuers: [] });
    const options = { verifier, issuers: [{ issuer: 'development:acme' }] };
    expect(() => createTokenAuthorizer(options)).toThrow('kept for development mode');
  });
});

describe('callers by headers', () => {
  const authorize = (headers: Headers) => createHeaderAuthorizer().authorize(flat(headers));

  test('a request for the name of another site, as sent by a page with DNS rebinding, is refused', async () => {
    const person = { 'X-Tenant-Id': 'acme', 'X-User-Id': 'ann' };
    expect(await authorize({ Host: '127.0.0.1:8080', ...person })).toMatchObject({ kind: 'caller' });
    expect(await authorize({ Host: 'site.example', ...person })).not.toMatchObject({ kind: 'caller' });
  });
  const least = { 'X-Tenant-Id': 'acme', 'X-User-Id': 'ann' };

  test('headers determine user, agent, groups and principals of the issuer of their tenant', async () => {
    const named = (subject: string) => ({ issuer: 'development:acme', subject });
    const all = { ...least, 'X-Groups': 'staff, board,,staff', 'X-Principals': 'a|b', 'X-Agent-Id': 'helper' };
    expect(await authorize(all)).toEqual({
      kind: 'caller',
      caller: {
        tenant: 'acme',
        user: named('ann'),
        agent: named('helper'),
        groups: ['staff', 'board'],
        principals: [named('a|b')],
        issuers: ['development:acme'],
      },
    });
    expect(await authorize(least)).toMatchObject({ caller: { agent: undefined, groups: [], principals: [] } });
  });

  test('names in headers are UTF-8', async () => {
    const headers = { 'X-Tenant-Id': utf8('Заря'), 'X-User-Id': utf8('Анна'), 'X-Groups': utf8('отдел') };
    expect(await authorize(headers)).toMatchObject({ caller: { tenant: 'Заря', groups: ['отдел'] } });
  });

  test.each<[string, Headers]>([
    ['no tenant', { 'X-User-Id': 'ann' }],
    ['an empty tenant', { ...least, 'X-Tenant-Id': ' ' }],
    ['no user', { 'X-Tenant-Id': 'acme' }],
    ['two users', { ...least, 'x-user-id': 'bob' }],
    ['two tenants', { ...least, 'x-tenant-id': 'acme' }],
    ['two agents', { ...least, 'X-Agent-Id': 'a', 'x-agent-id': 'b' }],
    ['a user of 256 characters', { ...least, 'X-User-Id': 'a'.repeat(256) }],
    ['a user that is not UTF-8', { ...least, 'X-User-Id': '\u00ff' }],
    ['101 groups', { ...least, 'X-Groups': Array.from({ length: 101 }, (_, at) => at).join(',') }],
    ['a group of 256 characters', { ...least, 'X-Groups': 'a'.repeat(256) }],
  ])('identity headers are refused with 401: %s', async (_what, headers) => {
    expect(await authorize(headers)).toEqual(fault('unauthorized'));
  });
});

describe('callers of development mode with agents', () => {
  const person = { ...good, sub: 'ann', sub_iss: 'development:acme' };
  async function authorize(headers: Headers, claims?: object) {
    const source = { ...trusted, subjectIssuerClaim: 'sub_iss' };
    const verifier = createVerifier({ issuers: [{ ...source, jwks: server.url }], clock });
    const authorizer = createDevelopmentAuthorizer({ verifier, issuers: [source], clock });
    const token = claims === undefined ? undefined : await signText(key, JSON.stringify(claims));
    return authorizer.authorize(
      flat({ ...headers, ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }) }),
    );
  }

  test('a token of the gateway names the person whom the headers of development mode would name, and the agent', async () => {
    const byHeaders = await authorize({ 'X-Tenant-Id': 'acme', 'X-User-Id': 'ann', 'X-Groups': 'staff' });
    const byToken = await authorize({ 'X-Tenant-Id': 'acme' }, person);
    expect(byHeaders).toMatchObject({ kind: 'caller', caller: { agent: undefined } });
    expect(byToken).toEqual({
      kind: 'caller',
      caller: { ...(byHeaders.kind === 'caller' ? byHeaders.caller : {}), agent: { issuer, subject: 'helper' } },
    });
  });

  test('identity headers are ignored when a token is sent, even if the token is refused', async () => {
    const headers = { 'X-Tenant-Id': 'acme', 'X-User-Id': 'bob', 'X-Groups': 'board', 'X-Principals': 'eve' };
    expect(await authorize(headers, person)).toMatchObject({ caller: { user: { subject: 'ann' }, groups: ['staff'] } });
    expect(await authorize(headers, { ...person, exp: now - 60 })).toEqual(fault('unauthorized'));
    expect(await authorize({ ...headers, Authorization: 'Bearer nonsense' })).toEqual(fault('unauthorized'));
  });

  test.each([
    ['a user of production mode', 'https://people.example'],
    ['a user of another tenant', 'development:globex'],
  ])('a token of development mode that names %s is refused', async (_who, sub_iss) => {
    expect(await authorize({ 'X-Tenant-Id': 'acme' }, { ...person, sub_iss })).toEqual(fault('unauthorized'));
  });
});
