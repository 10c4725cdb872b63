import { afterAll, beforeAll, expect, test } from 'vitest';
import { grantHeader, mintRunGrant } from '#identity/run-grant';
import { createTestKey, type JwksServer, startJwksServer, type TestKey } from '#identity/testing/test-issuer';
import { mintWorkloadToken } from '#identity/workload-token';
import type { CallVerifier } from './call-verifier.ts';
import { createTokenVerifier } from './workload-verifier.ts';

const issuer = 'https://gateway.example';
const call = {
  agentId: 'agent-1',
  versionId: 'version-1',
  subject: { issuer: 'https://people.example', subject: 'ann' },
  actors: [{ issuer, subject: 'agent-2' }],
  tenant: 'acme',
};
const budget = { nodes: 10, modelTokens: 200, outputBytes: 3_000 };

let key: TestKey;
let jwks: JwksServer;
let verifier: CallVerifier;
beforeAll(async () => {
  key = await createTestKey('EdDSA', 'ed');
  jwks = await startJwksServer(key);
  const { agentId, versionId } = call;
  verifier = createTokenVerifier({ agentId, versionId, issuer, jwks: jwks.url, onUnavailable: () => {} });
});
afterAll(() => jwks?.[Symbol.asyncDispose]());

const grantOf = (more: object = {}) =>
  mintRunGrant({ ...call, key, issuer, budget, runId: 'run-1', mode: 'A2A', timeoutMs: 20_000, ...more });

/** Verifies a call with these grants: returns its grant, or the code of its refusal. */
async function verify(...grants: readonly string[]) {
  const token = await mintWorkloadToken({ ...call, key, issuer, operation: 'message:send' });
  const headers = ['authorization', `Bearer ${token}`, ...grants.flatMap((grant) => [grantHeader, grant])];
  return await verifier.verify(headers, 'message:send').then(
    ({ grant }) => grant,
    ({ code }: { readonly code: string }) => code,
  );
}

test('a call has the budget and the deadline of its grant', async () => {
  const token = await grantOf();
  expect(await verify(token)).toEqual({ token, budget, expiresAt: expect.any(Date) });
  expect(await verify()).toBeUndefined();
});

test('a call with an altered grant, with two grants, or with that of another call is refused', async () => {
  const other = { issuer: 'https://people.example', subject: 'bob' };
  const refused = [
    [`${(await grantOf()).slice(0, -8)}AAAAAAAA`],
    [await grantOf(), await grantOf()],
    [await grantOf({ subject: other })],
    [await grantOf({ actors: [] })],
    [await grantOf({ tenant: 'other' })],
    [await grantOf({ versionId: 'version-2' })],
    [await grantOf({ key: await createTestKey('EdDSA', 'ed') })],
  ];
  for (const [at, grants] of refused.entries()) expect([at, await verify(...grants)]).toEqual([at, 'unauthenticated']);
});
