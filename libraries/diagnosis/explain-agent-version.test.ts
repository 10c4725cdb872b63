import { expect, test } from 'vitest';
import type { Agent } from '#resources/agent';
import type { AgentVersion } from '#resources/agent-version';
import type { Stored } from '#resources/metadata';
import { agentVersionRow } from './agent-version-row.ts';
import { explainAgent } from './explain-agent.ts';
import { explainAgentVersion } from './explain-agent-version.ts';
import type { Surroundings } from './surroundings.ts';

type Said = readonly [type: string, status: string, reason: string];

const leading = { operator: { state: 'leading', message: 'one is the leader.', replicas: [] }, problems: [] };
const absent = { operator: { state: 'absent', message: 'there is no leader', replicas: [] }, problems: [] };
const well: readonly Said[] = [
  ['Ready', 'True', 'Ready'],
  ['Accepted', 'True', 'Accepted'],
  ['Tested', 'True', 'TestsPassed'],
  ['CardVerified', 'True', 'Verified'],
];

function version(changed: readonly Said[] = [], { generation = 1, deleting = false } = {}): Stored<AgentVersion> {
  const added = changed.filter(([type]) => well.every((one) => one[0] !== type));
  const conditions = [...well.map((one) => changed.find(([type]) => type === one[0]) ?? one), ...added].map(
    ([type, status, reason]) => ({ type, status, reason, message: `It said ${reason}.`, observedGeneration: 1 }),
  );
  const guardrails = { input: { mode: 'None' }, output: { mode: 'Policy', policyRef: { name: 'guard', revision: 1 } } };
  const metadata = { name: 'handbook-1', generation, ...(deleting ? { deletionTimestamp: 'now' } : {}) };
  return {
    metadata,
    spec: { agent: 'handbook', guardrails },
    status: { conditions },
  } as unknown as Stored<AgentVersion>;
}

const explain = (resource: Stored<AgentVersion>, surroundings: object = leading) =>
  explainAgentVersion(resource, surroundings as Surroundings, 'portcullis');

test('a ready version has no cause, and a version without a policy for one direction is shown unguarded', () => {
  const { summary, cause, chain } = explain(version());
  expect([summary, cause]).toEqual(['AgentVersion handbook-1 is ready.', undefined]);
  expect(chain.map(({ part }) => part)).toEqual(['Operator', 'Accepted', 'Tests', 'Card', 'Process']);
  expect(agentVersionRow(version())).toEqual({
    ...{ name: 'handbook-1', agent: 'handbook', state: 'ready', unguarded: true },
  });
});

test('a detector that does not judge is the cause of a version and of the agent that it serves, and a missing process is no fault', () => {
  const failing = version([['ProviderReachable', 'False', 'NameNotFound']]);
  const cause = { part: 'Checks', state: 'fault', reason: 'NameNotFound' };
  expect(explain(failing)).toMatchObject({ state: 'ready', cause });
  const ready = ['Ready', 'AccessConsistent', 'RouteAccepted'].map((type) => ({
    ...{ type, status: 'True', reason: type, message: 'It is.', observedGeneration: 1 },
  }));
  const agent = { metadata: { name: 'handbook', generation: 1 }, spec: {}, status: { conditions: ready } };
  const ofAgent = explainAgent(
    agent as unknown as Stored<Agent>,
    leading as unknown as Surroundings,
    'portcullis',
    failing,
  );
  expect(ofAgent).toMatchObject({ state: 'ready', cause });
  expect(explain(version([['ProviderReachable', 'Unknown', 'NotServed']])).cause).toBeUndefined();
  const well = explain(version([['ProviderReachable', 'True', 'Reachable']]));
  expect([well.cause, well.chain.at(-1)?.part]).toEqual([undefined, 'Checks']);
});

test.each<[string, readonly Said[], string, RegExp]>([
  [
    'an invalid flow',
    [
      ['Ready', 'False', 'NotAccepted'],
      ['Accepted', 'False', 'FlowInvalid'],
      ['Tested', 'False', 'NotAccepted'],
      ['CardVerified', 'False', 'NotRunning'],
    ],
    'Accepted',
    /portcullis flow check/,
  ],
  [
    'a failed test',
    [
      ['Ready', 'False', 'NotTested'],
      ['Tested', 'False', 'TestsFailed'],
      ['CardVerified', 'False', 'NotRunning'],
    ],
    'Tests',
    /portcullis flow test/,
  ],
  [
    'an operator that runs no agents',
    [
      ['Ready', 'False', 'AgentsNotConfigured'],
      ['CardVerified', 'False', 'NotRunning'],
    ],
    'Process',
    /PORTCULLIS_AGENTS_URL/,
  ],
  [
    'an image where only flows run',
    [
      ['Ready', 'False', 'ImagesNotSupported'],
      ['Accepted', 'False', 'ImagesNotSupported'],
      ['Tested', 'False', 'NotAccepted'],
      ['CardVerified', 'False', 'NotRunning'],
    ],
    'Accepted',
    /Apply the version to a cluster/,
  ],
  [
    'an invalid card of an image',
    [
      ['Ready', 'False', 'NotAccepted'],
      ['Accepted', 'False', 'CardInvalid'],
      ['Tested', 'False', 'NotAccepted'],
      ['CardVerified', 'False', 'NotRunning'],
    ],
    'Accepted',
    /under another name/,
  ],
  [
    'a capability that the process did not prove',
    [
      ['Ready', 'False', 'CapabilityUnavailable'],
      ['CardVerified', 'False', 'CardNotRead'],
    ],
    'Process',
    /Leave the capability out/,
  ],
  [
    'another card than the process reports',
    [
      ['Ready', 'False', 'CardNotVerified'],
      ['CardVerified', 'False', 'CardDiffers'],
    ],
    'Card',
    /log of the process/,
  ],
])('%s is the cause of a version, with the remedy', (_, conditions, part, remedy) => {
  const explanation = explain(version(conditions));
  expect(explanation.cause?.part).toBe(part);
  expect(explanation.whatToDo).toMatch(remedy);
  expect(agentVersionRow(version(conditions))).toMatchObject({ state: 'faulty', why: expect.any(String) });
});

test('remedies of a version name its agent and its policy, and no policy if its texts have different ones', () => {
  const unserved = version([['Ready', 'False', 'PolicyNotServed']]);
  expect(explain(unserved).whatToDo).toMatch(/portcullis why policy\/guard$/);
  const input = { mode: 'Policy', policyRef: { name: 'other', revision: 1 } } as const;
  const spec = { ...unserved.spec, guardrails: { ...unserved.spec.guardrails, input } };
  expect(explain({ ...unserved, spec }).whatToDo).toMatch(/portcullis why policy\/NAME$/);
  expect(explain(version([['Ready', 'False', 'Routed']])).whatToDo).toMatch(/portcullis edit agent\/handbook$/);
});

test('a starting, draining or unprocessed version is waiting; without an operator the operator is the cause', () => {
  const starting = version([['Ready', 'False', 'Starting']]);
  expect(explain(starting)).toMatchObject({ state: 'starting', cause: { reason: 'Starting' } });
  expect(explain(starting, absent).cause?.reason).toBe('NoOperator');
  expect(explain(version([], { generation: 2 }))).toMatchObject({ state: 'waiting', cause: { reason: 'NotLookedAt' } });
  const draining = version([['Ready', 'False', 'Draining']], { deleting: true });
  expect(agentVersionRow(draining)).toMatchObject({ state: 'deleting', why: 'It said Draining.' });
});
