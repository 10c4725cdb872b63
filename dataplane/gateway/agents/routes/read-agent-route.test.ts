import { expect, test } from 'vitest';
import type { RoutedVersion } from '#resources/agent-route';
import { readAgentRoute } from './read-agent-route.ts';

const versionId = '01890a5d-ac96-774b-bcce-b302099a8074';
const version: RoutedVersion = {
  versionId,
  version: 'v1',
  modes: ['A2A'],
  address: 'http://a-1.team.svc',
  cardDigest: 'a'.repeat(64),
  requires: [],
  limits: {
    requestBytes: 16_384,
    timeoutMs: 20_000,
    concurrency: 4,
    budget: { nodes: 100, modelTokens: 1_000, outputBytes: 65_536 },
  },
};
const routeOf = (versions: readonly object[]) => ({
  formatVersion: 1,
  agentId: '01890a5d-ac96-774b-bcce-b302099a8075',
  agent: { name: 'desk', uid: versionId },
  served: versionId,
  versions,
  cards: 'View',
  exposure: 'R1',
});

test('a route with guardrails that the gateway does not apply is refused, and without them it is read', () => {
  expect(readAgentRoute(routeOf([version]), 'team')).toMatchObject({ ok: true });
  const unguarded = { input: { mode: 'None' }, output: { mode: 'None' } };
  expect(readAgentRoute(routeOf([{ ...version, guardrails: unguarded }]), 'team')).toEqual({
    ok: false,
    reason: 'unsupported_guardrails: versions.0.guardrails',
  });
});
