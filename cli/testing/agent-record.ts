import type { AgentRecord } from '#contracts/catalogue';

/** A record of the catalogue with the given id. */
export const agentRecord = (agentId: string, change: Partial<AgentRecord> = {}): readonly [string, AgentRecord] => [
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
