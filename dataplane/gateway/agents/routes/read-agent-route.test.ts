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

test('a route of an image is read with guardrails and the form of its publication, and refused with only one of them', () => {
  expect(readAgentRoute(routeOf([version]), 'team')).toMatchObject({ ok: true });
  const guardrails = { input: { mode: 'None' }, output: { mode: 'None' } };
  const sdk = { publicUrl: 'https://agents.example/agents/1' };
  const read = (change: object) => readAgentRoute(routeOf([{ ...version, ...change }]), 'team');
  expect(read({ guardrails, sdk })).toMatchObject({ ok: true });
  for (const half of [{ guardrails }, { sdk }]) {
    expect(read(half)).toEqual({ ok: false, reason: 'invalid_route: versions.0.guardrails' });
  }
});

test('a route of an image for MCP names its tool, and a route for A2A names no tool', () => {
  const guardrails = { input: { mode: 'None' }, output: { mode: 'None' } };
  const publicUrl = 'https://agents.example/agents/1';
  const read = (modes: readonly string[], sdk: object) =>
    readAgentRoute(routeOf([{ ...version, modes, guardrails, sdk }]), 'team').ok;
  expect(read(['MCP'], { publicUrl, tool: 'search' })).toBe(true);
  expect([read(['MCP'], { publicUrl }), read(['A2A'], { publicUrl, tool: 'search' })]).toEqual([false, false]);
});
