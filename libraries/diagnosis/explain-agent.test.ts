import { expect, test } from 'vitest';
import type { Agent } from '#resources/agent';
import type { Stored } from '#resources/metadata';
import { explainAgent } from './explain-agent.ts';
import type { Surroundings } from './surroundings.ts';

type Said = readonly [type: string, status: string, reason: string];

const leading = { operator: { state: 'leading', message: 'one is the leader.', replicas: [] }, problems: [] };
const absent = { operator: { state: 'absent', message: 'there is no leader', replicas: [] }, problems: [] };
const well: readonly Said[] = [
  ['Ready', 'True', 'Ready'],
  ['RouteAccepted', 'True', 'Confirmed'],
  ['AccessConsistent', 'True', 'Consistent'],
];

function agent(changed: readonly Said[] = [], { generation = 1, deleting = false } = {}): Stored<Agent> {
  const conditions = well
    .map((one) => changed.find(([type]) => type === one[0]) ?? one)
    .map(([type, status, reason]) => ({ type, status, reason, message: `It said ${reason}.`, observedGeneration: 1 }));
  const metadata = { name: 'handbook', generation, ...(deleting ? { deletionTimestamp: 'now' } : {}) };
  return { metadata, spec: { version: 'handbook-1' }, status: { conditions } } as unknown as Stored<Agent>;
}

const explain = (resource: Stored<Agent>, surroundings: object = leading) =>
  explainAgent(resource, surroundings as Surroundings, 'portcullis');

test('a served agent has no cause, and its steps begin with the operator', () => {
  const { summary, cause, whatToDo, chain } = explain(agent());
  expect([summary, cause, whatToDo]).toEqual(['Agent handbook is served.', undefined, undefined]);
  expect(chain.map(({ part }) => part)).toEqual(['Operator', 'Access', 'Route', 'Serving']);
});

test.each<[string, readonly Said[], string, RegExp]>([
  [
    'a version that does not exist',
    [
      ['Ready', 'False', 'VersionNotFound'],
      ['RouteAccepted', 'False', 'NoRoute'],
    ],
    'Serving',
    /portcullis edit agent\/handbook/,
  ],
  [
    'an installation without agents',
    [
      ['Ready', 'False', 'AgentsNotConfigured'],
      ['RouteAccepted', 'False', 'AgentsNotConfigured'],
      ['AccessConsistent', 'False', 'AgentsNotConfigured'],
    ],
    'Serving',
    /agents\.enabled/,
  ],
  [
    'a route that a replica rejects',
    [
      ['Ready', 'False', 'RouteRejected'],
      ['RouteAccepted', 'False', 'RouteRejected'],
    ],
    'Route',
    /Correct the cause/,
  ],
  [
    'a name that is too long for the store of rights',
    [
      ['Ready', 'False', 'AccessInvalid'],
      ['AccessConsistent', 'False', 'AccessInvalid'],
    ],
    'Access',
    /Shorten the names/,
  ],
  [
    'a gateway that serves no agents',
    [
      ['Ready', 'False', 'NoAgentReplica'],
      ['RouteAccepted', 'Unknown', 'NoAgentReplica'],
    ],
    'Route',
    /Start a gateway that serves agents/,
  ],
])('%s is the cause of an agent, with the remedy', (_, conditions, part, remedy) => {
  const explanation = explain(agent(conditions));
  expect(explanation.state).toBe('faulty');
  expect(explanation.cause?.part).toBe(part);
  expect(explanation.whatToDo).toMatch(remedy);
});

test('an agent whose version starts, or that was not processed yet, waits; without an operator the operator is the cause', () => {
  const starting = agent([
    ['Ready', 'False', 'VersionNotReady'],
    ['RouteAccepted', 'False', 'NoRoute'],
  ]);
  expect(explain(starting)).toMatchObject({ state: 'starting', cause: { part: 'Serving', state: 'open' } });
  expect(explain(starting).whatToDo).toMatch(/why agentversion\/handbook-1$/);
  const trial = agent([['Ready', 'False', 'CanaryNotReady']]);
  const spec = { ...trial.spec, canary: { version: 'handbook-2', percent: 5 } };
  expect(explain({ ...trial, spec }).whatToDo).toMatch(/why agentversion\/handbook-2$/);
  expect(explain(starting, absent).cause?.part).toBe('Operator');
  expect(explain(agent([], { generation: 2 }))).toMatchObject({ state: 'waiting', cause: { reason: 'NotLookedAt' } });
  expect(explain(agent([['Ready', 'False', 'Draining']], { deleting: true })).state).toBe('deleting');
});
