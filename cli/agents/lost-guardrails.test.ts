import { expect, test } from 'vitest';
import type { KubeClient } from '#kube/client/client';
import type { Agent } from '#resources/agent';
import type { AgentVersion } from '#resources/agent-version';
import type { Kind } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import { lostGuardrails } from './lost-guardrails.ts';

type Mode = 'Policy' | 'None';
const guardrail = (mode: Mode) =>
  mode === 'None' ? ({ mode } as const) : ({ mode, policyRef: { name: 'chat', revision: 1 } } as const);
const version = (name: string, input: Mode, output: Mode) =>
  ({
    metadata: { name },
    spec: { guardrails: { input: guardrail(input), output: guardrail(output) } },
  }) as AgentVersion;
const effect = async (present: readonly [Mode, Mode], next: readonly [Mode, Mode], status?: Agent['status']) => {
  const versions = [version('desk-1', ...present), version('desk-2', ...next)];
  const client = { get: async (_kind: Kind, name: string) => versions.find(({ metadata }) => metadata.name === name) };
  const agent = { metadata: { name: 'desk' }, spec: { version: 'desk-1' }, status } as Stored<Agent>;
  return (await lostGuardrails(client as unknown as KubeClient, agent, { version: 'desk-2' })).join();
};

test.each([
  [['Policy', 'Policy'], ['None', 'None'], 'what callers send and what the agent answers'],
  [['Policy', 'Policy'], ['None', 'Policy'], 'what callers send'],
  [['None', 'Policy'], ['None', 'None'], 'what the agent answers'],
  [['Policy', 'None'], ['None', 'Policy'], 'what callers send'],
] as const)('a version with %j, then %j, leaves texts unguarded: %s', async (present, next, texts) => {
  expect(await effect(present, next)).toBe(
    `Agent desk would serve the version desk-2, which leaves ${texts} UNGUARDED. The version desk-1 has it checked.`,
  );
});

test.each([
  [
    ['Policy', 'Policy'],
    ['Policy', 'Policy'],
  ],
  [
    ['None', 'None'],
    ['None', 'None'],
  ],
  [
    ['None', 'None'],
    ['Policy', 'Policy'],
  ],
  [
    ['Policy', 'None'],
    ['Policy', 'Policy'],
  ],
] as const)('no check is lost from %j to %j', async (present, next) => {
  expect(await effect(present, next)).toBe('');
});

test('the guardrails of the served version are compared even if another version is already requested', async () => {
  const status = { conditions: [], checked: ['Output' as const], served: { version: 'desk-0', versionId: 'id' } };
  expect(await effect(['None', 'None'], ['None', 'None'], status as unknown as Agent['status'])).toBe(
    'Agent desk would serve the version desk-2, which leaves what the agent answers UNGUARDED. The version desk-0 has it checked.',
  );
});
