import { expect, test } from 'vitest';
import type { AgentRecord } from '#contracts/catalogue';
import { agentNamed } from './catalogue-agents.ts';

const record = (agentId: string, change: Partial<AgentRecord> = {}): readonly [string, AgentRecord] => [
  agentId,
  {
    agentId,
    versionId: 'v1',
    name: `Agent ${agentId}`,
    description: '',
    owner: { ownerType: 'user', ownerIssuer: 'https://people.example', ownerSubject: 'olga' },
    workspace: 'support',
    state: 'active',
    protocol: 'a2a',
    implementationType: 'low-code',
    skills: [],
    ...change,
  },
];

test('a name finds the only agent that has it, also if two lists have that agent', () => {
  const [first, second] = [record('a')[1], record('b')[1]];
  expect(agentNamed([first, second, first], 'Agent a')).toEqual(first);
});

test('a name that no agent has is not found, and a name that two agents have is refused with their ids', () => {
  const agents = [record('a')[1], record('b', { name: 'Agent a', workspace: 'sales' })[1]];
  expect(() => agentNamed(agents, 'Agent b')).toThrow('no agent named "Agent b"');
  expect(() => agentNamed(agents, 'Agent a')).toThrow(
    '2 agents have the name "Agent a": give one id of a (workspace support), b (workspace sales).',
  );
});
