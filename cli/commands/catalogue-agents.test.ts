import { expect, test } from 'vitest';
import type { AgentRecord } from '#contracts/catalogue';
import { changedLines } from './catalogue-agents.ts';

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

test('a watch prints one line for each agent that appears, changes or disappears, and none for the others', () => {
  const before = new Map([record('a'), record('b'), record('c')]);
  const now = new Map([record('b'), record('c', { versionId: 'v2' }), record('d')]);
  expect(changedLines(before, now)).toEqual(['- a Agent a', '+ d Agent d', '~ c Agent c']);
  expect(changedLines(now, now)).toEqual([]);
});
