import { decodeJwt, decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createFakeClock, type FakeClock } from '#kit/testing/fake-clock';
import { createRunGrantVerifier, type GrantedRun, mintRunGrant } from './run-grant.ts';
import { createTestKey, type JwksServer, signText, startJwksServer, type TestKey } from './testing/test-issuer.ts';
import { mintWorkloadToken } from './workload-token.ts';

const issuer = 'https://gateway.example';
const run: GrantedRun = {
  agentId: 'agent-1',
  versionId: 'version-1',
  runId: 'run-1',
  subject: { issuer: 'https://people.example', subject: 'ann' },
  actors: [{ issuer, subject: 'agent-2' }],
};
const budget = { nodes: 1_000, modelTokens: 20_000, outputBytes: 100_000 };

let key: TestKey;
let server: JwksServer;
let clock: FakeClock;
beforeAll(async () => {
  key = await createTestKey('EdDSA', 'ed');
  server = await startJwksServer(key);
});
afterAll(() => server[Symbol.asyncDispose]());
beforeEach(() => {
  clock = createFakeClock();
});

type MintOptions = Partial<Parameters<typeof mintRunGrant>[0]>;
const mint = (more: MintOptions = {}) =>
  mintRunGrant({ ...run, mode: 'A2A', key, issuer, budget, timeoutMs: 120_000, clock, ...more });
async function codeOf(grant: string, expected: GrantedRun = run): Promise<string> {
  const found = await createRunGrantVerifier({ issuer, jwks: server.url, clock }).verify(grant, expected);
  return found.kind === 'refusal' ? found.code : found.kind;
}

test('a grant is bound to its run, and contains the limits of the run', async () => {
  const grant = await mint();
  expect(decodeProtectedHeader(grant).typ).toBe('portcullis-run-grant+jwt');
  const verifier = createRunGrantVerifier({ issuer, jwks: server.url, clock });
  const expected = {
    kind: 'grant',
    ...run,
    mode: 'A2A',
    groups: [],
    budget,
    tokenId: decodeJwt(grant).jti,
    expiresAt: new Date(clock.date().getTime() + 120_000),
  };
  expect(await verifier.verify(grant, run)).toEqual(expected);
  expect(await verifier.verify(grant, run)).toEqual(expected);
});

test('a grant says whether its run was called over A2A or over MCP, and a grant with another mode is refused', async () => {
  const verifier = createRunGrantVerifier({ issuer, jwks: server.url, clock });
  for (const mode of ['A2A', 'MCP'] as const) {
    expect(await verifier.verify(await mint({ mode }), run)).toMatchObject({ kind: 'grant', mode });
  }
  const grant = await mint({ mode: 'MCP' });
  const claims = JSON.stringify({ ...decodeJwt(grant), mode: 'HTTP' });
  expect(await codeOf(await signText(key, claims, decodeProtectedHeader(grant)))).toBe('claims_invalid');
});

test('a grant of another run, subject, chain, tenant or version is refused', async () => {
  const grant = await mint();
  const ann = run.subject;
  expect(await codeOf(grant, { ...run, agentId: 'agent-3' })).toBe('agent_wrong');
  expect(await codeOf(grant, { ...run, versionId: 'version-2' })).toBe('agent_wrong');
  expect(await codeOf(grant, { ...run, runId: 'run-2' })).toBe('run_wrong');
  expect(await codeOf(grant, { ...run, tenant: 'acme' })).toBe('run_wrong');
  expect(await codeOf(await mint({ tenant: 'acme' }))).toBe('run_wrong');
  expect(await codeOf(await mint({ tenant: 'acme' }), { ...run, tenant: 'acme' })).toBe('grant');
  expect(await codeOf(grant, { ...run, subject: { ...ann, subject: 'bob' } })).toBe('run_wrong');
  expect(await codeOf(grant, { ...run, subject: { ...ann, issuer } })).toBe('run_wrong');
  expect(await codeOf(grant, { ...run, actors: [] })).toBe('run_wrong');
  expect(await codeOf(grant, { ...run, actors: [...run.actors, ...run.actors] })).toBe('run_wrong');
  expect(await codeOf(grant, { ...run, actors: [{ issuer, subject: 'agent-4' }] })).toBe('run_wrong');
});

test('a grant lives as long as a run may take, and at most 900 seconds', async () => {
  const [grant, other] = [await mint({ timeoutMs: 1_001 }), await mint({ timeoutMs: 1_001 })];
  clock.advance(6_999);
  expect(await codeOf(grant)).toBe('grant');
  clock.advance(1);
  expect(await codeOf(other)).toBe('expired');
  expect(await codeOf(await mint({ timeoutMs: 900_000 }))).toBe('grant');
  await expect(mint({ timeoutMs: 900_001 })).rejects.toMatchObject({ code: 'lifetime_too_long' });
});

test('a workload token, and a grant of another key or shape, is refused as a grant', async () => {
  expect(await codeOf(await mintWorkloadToken({ ...run, key, issuer, operation: 'message:send', clock }))).toBe(
    'type_refused',
  );
  expect(await codeOf(await mint({ key: await createTestKey('EdDSA', 'ed') }))).toBe('signature_wrong');
  const grant = await mint();
  const signed = (change: object) =>
    signText(key, JSON.stringify({ ...decodeJwt(grant), ...change }), { ...decodeProtectedHeader(grant) });
  expect(await codeOf(await signed({}))).toBe('grant');
  for (const change of [{ budget: undefined }, { budget: { ...budget, width: 4 } }, { runId: '' }]) {
    expect(await codeOf(await signed(change))).toBe('claims_invalid');
  }
  expect(await codeOf(await signed({ aud: 'portcullis' }))).toBe('audience_wrong');
});

test.each([
  ['nodes', 100_000],
  ['modelTokens', 2_000_000],
  ['outputBytes', 67_108_864],
] as const)('the budget of %s in a run grant is from 1 to %i', async (name, max) => {
  for (const amount of [1, max])
    expect(await codeOf(await mint({ budget: { ...budget, [name]: amount } }))).toBe('grant');
  for (const amount of [0, max + 1, 1.5]) {
    await expect(mint({ budget: { ...budget, [name]: amount } })).rejects.toMatchObject({ code: 'claims_invalid' });
  }
});

test('the token exchange reads the run, the tenant and the groups of the user from the grant', async () => {
  const grant = await mint({ tenant: 'acme', groups: ['staff', 'sales'] });
  const verifier = createRunGrantVerifier({ issuer, jwks: server.url, clock });
  expect(await verifier.open(grant)).toMatchObject({ ...run, tenant: 'acme', groups: ['staff', 'sales'] });
  expect(await verifier.open(await mintWorkloadToken({ ...run, key, issuer, operation: 'mcp', clock }))).toMatchObject({
    code: 'type_refused',
  });
});
