import { decodeJwt, decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createFakeClock, type FakeClock } from '#kit/testing/fake-clock';
import { createVerifier } from './create-verifier.ts';
import {
  createTestKey,
  type JwksServer,
  part,
  signText,
  startJwksServer,
  type TestKey,
} from './testing/test-issuer.ts';
import { createWorkloadVerifier, mintWorkloadToken, type WorkloadVerifier } from './workload-token.ts';

const issuer = 'https://gateway.example';
const target = { agentId: 'agent-1', versionId: 'version-1' };
const ann = { issuer: 'https://people.example', subject: 'ann' };
const agent = (subject: string) => ({ issuer, subject });
const operation = 'message:send';

let key: TestKey;
let server: JwksServer;
let clock: FakeClock;
let verifier: WorkloadVerifier;
beforeAll(async () => {
  key = await createTestKey('EdDSA', 'ed');
  server = await startJwksServer(key);
});
afterAll(() => server[Symbol.asyncDispose]());
beforeEach(() => {
  clock = createFakeClock();
  verifier = createWorkloadVerifier({ ...target, issuer, jwks: server.url, clock });
});

type MintOptions = Partial<Parameters<typeof mintWorkloadToken>[0]>;
const mint = (more: MintOptions = {}) =>
  mintWorkloadToken({ ...target, key, issuer, subject: ann, actors: [], operation, clock, ...more });
/** A token with changed claims, signed by the key of the gateway. */
async function forge(change: Record<string, unknown>, header: Record<string, unknown> = {}): Promise<string> {
  const token = await mint();
  const claims = Object.fromEntries(
    Object.entries({ ...decodeJwt(token), ...change }).filter(([, value]) => value !== undefined),
  );
  return await signText(key, JSON.stringify(claims), { ...decodeProtectedHeader(token), ...header });
}
const codeOf = async (token: string, asked = operation) => {
  const found = await verifier.verify(token, asked);
  return found.kind === 'refusal' ? found.code : found.kind;
};
const now = () => Math.floor(clock.date().getTime() / 1_000);

test('a workload token names the caller, the version and the operation', async () => {
  const actors = [agent('agent-3'), agent('agent-2')];
  const token = await mint({ actors });
  expect(decodeProtectedHeader(token)).toEqual({ alg: 'EdDSA', typ: 'portcullis-workload+jwt', kid: 'ed' });
  expect(decodeJwt(token)).toMatchObject({ scope: 'invoke', operation, ...target, sub: 'ann', sub_iss: ann.issuer });
  expect(await verifier.verify(token, operation)).toEqual({
    kind: 'workload',
    ...target,
    operation,
    subject: ann,
    actors,
    exposure: 'R1',
    tokenId: decodeJwt(token).jti,
    expiresAt: new Date((now() + 60) * 1_000),
  });
});

test('a workload token says R2 only if the gateway wrote it, and no other exposure is accepted', async () => {
  expect(await verifier.verify(await mint({ exposure: 'R2' }), operation)).toMatchObject({ exposure: 'R2' });
  expect(await verifier.verify(await mint({ exposure: 'R1' }), operation)).toMatchObject({ exposure: 'R1' });
  for (const exposure of ['R3', 'r2', '', null, ['R2']]) {
    expect(await codeOf(await forge({ exposure }))).toBe('claims_invalid');
  }
});

describe('times', () => {
  test('a workload token lives at most 60 seconds', async () => {
    expect(await codeOf(await mint({ ttlSeconds: 60 }))).toBe('workload');
    await expect(mint({ ttlSeconds: 61 })).rejects.toMatchObject({ code: 'lifetime_too_long' });
    expect(await codeOf(await forge({ iat: now(), exp: now() + 60 }))).toBe('workload');
    expect(await codeOf(await forge({ iat: now(), exp: now() + 61 }))).toBe('lifetime_too_long');
  });

  test('the clocks of gateway and agent may differ by 5 seconds', async () => {
    expect(await codeOf(await forge({ iat: now() + 5, exp: now() + 60 }))).toBe('workload');
    expect(await codeOf(await forge({ iat: now() + 6, exp: now() + 60 }))).toBe('not_yet_valid');
    expect(await codeOf(await forge({ nbf: now() + 6 }))).toBe('not_yet_valid');
    const [one, other] = [await mint({ ttlSeconds: 1 }), await mint({ ttlSeconds: 1 })];
    clock.advance(5_999);
    expect(await codeOf(one)).toBe('workload');
    clock.advance(1);
    expect(await codeOf(other)).toBe('expired');
  });

  test.each([
    [{ iat: undefined }],
    [{ exp: undefined }],
    [{ iat: '1' }],
    [{ iat: 1.5 }],
    [{ exp: 0, iat: 0 }],
    [{ jti: undefined }],
    [{ sub: undefined }],
    [{ sub_iss: undefined }],
    [{ agentId: 7 }],
    [{ versionId: undefined }],
  ])('a workload token with the claims %j is invalid', async (change) => {
    expect(await codeOf(await forge(change))).toBe('claims_invalid');
  });

  test('a workload token that was issued before the process started is refused', async () => {
    const before = await mint();
    clock.advance(1_000);
    verifier = createWorkloadVerifier({ ...target, issuer, jwks: server.url, clock });
    expect(await codeOf(before)).toBe('issued_before_start');
    expect(await codeOf(await mint())).toBe('workload');
  });
});

describe('binding', () => {
  test('a workload token of another agent or another version is refused, and so is an expired one', async () => {
    expect(await codeOf(await mint())).toBe('workload');
    expect(await codeOf(await mint({ agentId: 'agent-2' }))).toBe('audience_wrong');
    expect(await codeOf(await mint({ versionId: 'version-2' }))).toBe('audience_wrong');
    expect(await codeOf(await forge({ agentId: 'agent-2' }))).toBe('agent_wrong');
    expect(await codeOf(await forge({ aud: [decodeJwt(await mint()).aud, 'other'] }))).toBe('audience_wrong');
    const token = await mint();
    clock.advance(65_000);
    expect(await codeOf(token)).toBe('expired');
  });

  test('a workload token is valid for one operation and the scope invoke', async () => {
    expect(await codeOf(await mint(), 'message:stream')).toBe('operation_wrong');
    expect(await codeOf(await forge({ operation: undefined }), operation)).toBe('operation_wrong');
    expect(await codeOf(await forge({ scope: 'view' }))).toBe('scope_wrong');
    expect(await codeOf(await forge({ scope: 'invoke view' }))).toBe('scope_wrong');
  });

  test('a refused workload token does not count as used', async () => {
    const token = await mint();
    expect(await codeOf(token, 'message:stream')).toBe('operation_wrong');
    expect(await codeOf(token)).toBe('workload');
  });

  test('names that contain separators yield different audiences', async () => {
    const odd = createWorkloadVerifier({
      agentId: ['a', 'version', 'b'].join(':'),
      versionId: 'c',
      issuer,
      jwks: server.url,
      clock,
    });
    expect(
      await odd.verify(await mint({ agentId: 'a', versionId: ['b', 'version', 'c'].join(':') }), operation),
    ).toMatchObject({
      code: 'audience_wrong',
    });
  });
});

describe('header, keys and issuer', () => {
  test('only a workload token of the gateway signed with Ed25519 is accepted', async () => {
    const other = await createTestKey('EdDSA', 'ed');
    const elliptic = await createTestKey('ES256', 'ec');
    server.publish(key, elliptic);
    expect(await codeOf(await mint({ key: other }))).toBe('signature_wrong');
    expect(await codeOf(await mint({ key: { ...key, kid: 'unknown' } }))).toBe('key_unknown');
    expect(await codeOf(await mint({ issuer: 'https://other.example' }))).toBe('issuer_unknown');
    const claims = JSON.stringify(decodeJwt(await mint()));
    expect(await codeOf(await signText(elliptic, claims, { typ: 'portcullis-workload+jwt' }))).toBe(
      'algorithm_refused',
    );
    for (const typ of [undefined, 'JWT', 'at+jwt', 'portcullis-run-grant+jwt']) {
      expect(await codeOf(await signText(key, claims, { typ }))).toBe('type_refused');
    }
    expect(await codeOf(await signText(key, claims, { typ: 'portcullis-workload+jwt', kid: undefined }))).toBe(
      'key_unknown',
    );
    const [header, payload, signature] = (await mint()).split('.');
    const changed = part({ ...JSON.parse(Buffer.from(header ?? '', 'base64url').toString()), crit: ['x'] });
    expect(await codeOf(`${changed}.${payload}.${signature}`)).toBe('critical_refused');
  });

  test('a workload token is refused as an access token', async () => {
    const token = await mint();
    const audience = String(decodeJwt(token).aud);
    const access = createVerifier({ issuers: [{ issuer, audience, jwks: server.url }], clock });
    expect(await access.verify(token)).toMatchObject({ code: 'type_refused' });
  });

  test('without keys no workload token is accepted, and a refused token does not count as used', async () => {
    server.answerWith((outgoing) => outgoing.writeHead(500).end());
    verifier = createWorkloadVerifier({ ...target, issuer, jwks: server.url, clock });
    const token = await mint();
    expect(await verifier.verify(token, operation)).toEqual({
      kind: 'refusal',
      code: 'identity_unavailable',
      status: 503,
    });
    server.publish(key);
    clock.advance(2_000);
    expect(await codeOf(token)).toBe('workload');
  });
});

describe('the chain of actors', () => {
  test('a chain of four actors is accepted and a fifth actor is refused', async () => {
    const chain = (count: number) => Array.from({ length: count }, (_, at) => agent(`hop-${at}`));
    expect(await codeOf(await mint({ actors: chain(4) }))).toBe('workload');
    await expect(mint({ actors: chain(5) })).rejects.toMatchObject({ code: 'actors_too_many' });
    const act = chain(5).reduceRight<object | undefined>(
      (inner, { subject }) => ({ iss: issuer, sub: subject, act: inner }),
      undefined,
    );
    expect(await codeOf(await forge({ act }))).toBe('actors_too_many');
  });

  test('an agent occurs in a chain once, and an equal name of another issuer is another agent', async () => {
    await expect(mint({ actors: [agent('a'), agent('b'), agent('a')] })).rejects.toMatchObject({
      code: 'actor_repeated',
    });
    await expect(mint({ actors: [agent(target.agentId)] })).rejects.toMatchObject({ code: 'actor_repeated' });
    expect(await codeOf(await forge({ act: { iss: issuer, sub: target.agentId } }))).toBe('actor_repeated');
    const namesake = { issuer: 'https://other.example', subject: 'a' };
    expect(await codeOf(await mint({ actors: [agent('a'), namesake] }))).toBe('workload');
  });

  test('a workload token that would be too long is not signed', async () => {
    const actors = Array.from({ length: 4 }, (_, at) => ({
      issuer: '€'.repeat(255),
      subject: `${at}${'€'.repeat(254)}`,
    }));
    await expect(mint({ actors })).rejects.toMatchObject({ code: 'token_too_large' });
  });
});

describe('a token is accepted once', () => {
  test('a workload token that is presented several times at once is accepted once', async () => {
    const token = await mint();
    const found = await Promise.all([codeOf(token), codeOf(token), codeOf(token)]);
    expect(found.sort()).toEqual(['token_used', 'token_used', 'workload']);
  });

  test('the id of a used token is kept while the token is valid, even if the clock is set back', async () => {
    const token = await mint();
    expect(await codeOf(token)).toBe('workload');
    clock.advance(64_999);
    expect(await codeOf(token)).toBe('token_used');
    clock.advance(1);
    expect(await codeOf(await mint())).toBe('workload');
    clock.advance(-30_000);
    expect(await codeOf(token)).toBe('expired');
  });

  test('a full store of used ids refuses further tokens until an id is dropped', async () => {
    verifier = createWorkloadVerifier({ ...target, issuer, jwks: server.url, clock, usedIds: 2 });
    const first = await mint();
    expect([await codeOf(first), await codeOf(await mint())]).toEqual(['workload', 'workload']);
    const third = await mint();
    expect(await verifier.verify(third, operation)).toEqual({
      kind: 'refusal',
      code: 'token_store_full',
      status: 503,
    });
    expect(await codeOf(first)).toBe('token_used');
    clock.advance(65_000);
    expect(await codeOf(await mint())).toBe('workload');
  });
});
