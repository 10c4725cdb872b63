import { decodeJwt } from 'jose';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { createFakeClock, type FakeClock } from '#kit/testing/fake-clock';
import { createAgentCallVerifier, mintAgentCallToken } from './agent-call-token.ts';
import { createTokenAuthorizer } from './authorize-callers.ts';
import { createVerifier, type TrustedIssuer } from './create-verifier.ts';
import { mintServiceToken, serviceAudiences } from './service-token.ts';
import { createTestKey, type JwksServer, startJwksServer, type TestKey } from './testing/test-issuer.ts';

const issuer = 'https://gateway.example';
const people = 'https://people.example';
const agent = (subject: string) => ({ issuer, subject });

let key: TestKey;
let server: JwksServer;
let clock: FakeClock;
beforeAll(async () => {
  key = await createTestKey('EdDSA', 'ed');
  server = await startJwksServer(key);
  return () => server[Symbol.asyncDispose]();
});
beforeEach(() => {
  clock = createFakeClock();
});

const member = () => ({
  subject: { issuer: people, subject: 'ann' },
  tenant: 'acme',
  groups: ['staff'],
  key,
  issuer,
  ttlSeconds: 60,
  clock,
});
const callOf = (actors: readonly { issuer: string; subject: string }[], agentId = 'agent-2') =>
  mintAgentCallToken({
    ...member(),
    agentId,
    actors,
    budget: { nodes: 10, modelTokens: 20, outputBytes: 30 },
    deadline: new Date(clock.date().getTime() + 90_000),
  });

test('a call of another agent carries the person, the chain, the budget and the end of the run', async () => {
  const verifier = createAgentCallVerifier({ issuer, jwks: server.url, clock });
  const token = await callOf([agent('agent-1')]);
  expect(await verifier.verify(token, 'agent-2')).toEqual({
    kind: 'agent_call',
    agentId: 'agent-2',
    subject: { issuer: people, subject: 'ann' },
    actors: [agent('agent-1')],
    tenant: 'acme',
    groups: ['staff'],
    budget: { nodes: 10, modelTokens: 20, outputBytes: 30 },
    deadline: new Date(clock.date().getTime() + 90_000),
    tokenId: decodeJwt(token).jti,
  });
  expect(await verifier.verify(token, 'agent-3')).toMatchObject({ code: 'audience_wrong' });
  clock.advance(65_000);
  expect(await verifier.verify(token, 'agent-2')).toMatchObject({ code: 'expired' });
});

test('an agent that is already in the act chain and a fifth actor get no token', async () => {
  const four = ['a', 'b', 'c', 'd'].map(agent);
  await expect(callOf(four)).resolves.toBeTypeOf('string');
  await expect(callOf([...four, agent('e')])).rejects.toMatchObject({ code: 'actors_too_many' });
  await expect(callOf([agent('a'), agent('agent-2')])).rejects.toMatchObject({ code: 'actor_repeated' });
});

test('a service knows the person by the issuer of the person, and the agent as the direct caller', async () => {
  const trusted: TrustedIssuer = {
    issuer,
    audience: serviceAudiences.retrieval,
    jwks: server.url,
    tenantsClaim: 'tenants',
    groupsClaim: 'groups',
    subjectIssuerClaim: 'sub_iss',
  };
  const verifier = createVerifier({ issuers: [trusted], clock });
  const authorizer = createTokenAuthorizer({ verifier, issuers: [trusted], clock });
  const mint = (more: object = {}) =>
    mintServiceToken({
      ...member(),
      agentId: 'agent-2',
      versionId: 'version-1',
      actors: [agent('agent-1')],
      audience: serviceAudiences.retrieval,
      ...more,
    });
  const headers = (token: string) => ['authorization', `Bearer ${token}`, 'x-tenant-id', 'acme'];
  expect(await authorizer.authorize(headers(await mint()))).toMatchObject({
    kind: 'caller',
    caller: { tenant: 'acme', user: { issuer: people, subject: 'ann' }, agent: agent('agent-2'), groups: ['staff'] },
  });
  for (const more of [
    { audience: serviceAudiences.memory },
    { subject: { issuer: 'development:agents', subject: 'ann' } },
    { subject: { issuer: '', subject: 'ann' } },
  ]) {
    expect(await authorizer.authorize(headers(await mint(more)))).toMatchObject({ code: 'unauthorized' });
  }
  expect(await authorizer.authorize(headers(await mint({ tenant: 'other' })))).toMatchObject({ code: 'forbidden' });
  const chain = ['a', 'b', 'c'].map(agent);
  await expect(mint({ actors: chain })).resolves.toBeTypeOf('string');
  await expect(mint({ actors: [...chain, agent('d')] })).rejects.toMatchObject({ code: 'actors_too_many' });
  await expect(mint({ actors: [agent('agent-2')] })).rejects.toMatchObject({ code: 'actor_repeated' });
});
