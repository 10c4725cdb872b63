import { expect, test } from 'vitest';
import { agentProblemCodes } from '#contracts/agent-state';
import { missingConnections } from '../../agents/missing-connections.ts';
import { agentVersionConditions } from './conditions.ts';
import { decideAgentVersion } from './decide.ts';
import type { AgentVersionSnapshot } from './snapshot.ts';

const bare = { build: 'test', capabilities: {}, runs: 0 };

test.each(agentProblemCodes)(
  'an AgentVersion whose process reports the problem %s is not Ready, with a message',
  (code) => {
    const state = { ...bare, ready: false, problems: [{ code, message: 'the words of the process' }] };
    const observed = { state, card: 'unread', problem: undefined } as const;
    const [ready] = agentVersionConditions({ kind: 'running', tests: 1, hasCard: true, observed, missing: [] }, 1);
    expect(ready?.status).toBe('False');
    const expected: Partial<Record<typeof code, string>> = {
      starting: 'The process of the version is starting.',
      advertised_capability_unavailable: 'advertised_capability_unavailable: the words of the process.',
    };
    expect(ready?.message).toBe(expected[code] ?? 'the words of the process.');
  },
);

test('without a verified card, an AgentVersion that declares no card is Ready and one that declares a card is not', () => {
  const state = { ...bare, ready: true, problems: [] };
  const readyOf = (hasCard: boolean) =>
    agentVersionConditions(
      { kind: 'running', tests: 1, hasCard, observed: { state, card: 'none', problem: undefined }, missing: [] },
      1,
    )[0];
  expect(readyOf(false)).toMatchObject({ type: 'Ready', status: 'True' });
  expect(readyOf(true)).toMatchObject({ type: 'Ready', status: 'False', reason: 'CardNotVerified' });
});

test('an AgentVersion that requires a connection which the environment does not have for its agent is not Ready, with the connection', () => {
  const state = { ...bare, ready: true, problems: [] };
  const observed = { state, card: 'verified', problem: undefined } as const;
  const readyOf = (missing: readonly string[]) =>
    agentVersionConditions({ kind: 'running', tests: 1, hasCard: true, observed, missing }, 1)[0];
  expect(readyOf([])).toMatchObject({ type: 'Ready', status: 'True' });
  const connections = [{ name: 'crm', kind: 'http', agents: ['planner'] }] as never;
  const missing = (name: string, kind: 'connection' | 'mcp', agent: string) =>
    missingConnections({ requires: [{ kind, name }] }, agent, connections);
  expect(missing('crm', 'connection', 'planner')).toEqual([]);
  const sentences = [
    ...missing('crm', 'connection', 'other'),
    ...missing('crm', 'mcp', 'planner'),
    ...missing('absent', 'connection', 'planner'),
  ];
  expect(readyOf(sentences)).toMatchObject({
    status: 'False',
    reason: 'CapabilityUnavailable',
    message:
      'advertised_capability_unavailable: the connection crm does not list the agent other; ' +
      'connections.yaml has no connection crm of the kind mcp; connections.yaml has no connection absent of the kind http.',
  });
});

test('an AgentVersion whose detector does not judge stays Ready, and a condition names rule, provider and cause', () => {
  const failingProviders = [{ rule: 'names', provider: 'presidio', cause: 'name_not_found' as const }];
  const conditionsOf = (change: object) => {
    const state = { ...bare, ready: true, problems: [], ...change };
    const observed = { state, card: 'verified', problem: undefined } as const;
    const all = agentVersionConditions({ kind: 'running', tests: 1, hasCard: true, observed, missing: [] }, 1);
    return [all[0], all.find(({ type }) => type === 'ProviderReachable')];
  };
  expect(conditionsOf({})).toMatchObject([{ status: 'True' }, { status: 'True', reason: 'Reachable' }]);
  expect(conditionsOf({ failingProviders })).toMatchObject([
    { type: 'Ready', status: 'True' },
    { status: 'False', message: expect.stringContaining('The provider presidio of the rule names cannot be used') },
  ]);
});

const answering = { ...bare, ready: true, problems: [] };
const ended = { reason: 'ProcessEnded', message: 'exit code 1' } as const;

/** A version whose deletion waits because its agent serves it; no process of it runs. */
const deleted: AgentVersionSnapshot = {
  deleting: true,
  hasFinalizer: true,
  routedBy: 'desk',
  users: [],
  deletingMs: 60_000,
  drainMs: 1_000,
  isConfigured: true,
  isForeignImage: false,
  outcome: undefined,
  differences: [],
  missing: [],
  isWanted: false,
  mayRun: false,
  observed: undefined,
};

test('a deleted AgentVersion that a route lists is checked and run again by a new operator, and keeps its conditions until its process is observed', () => {
  const loaded = { kind: 'loaded', tests: 1, failed: [] } as unknown as NonNullable<AgentVersionSnapshot['outcome']>;
  const stepOf = (change: Partial<AgentVersionSnapshot>) => decideAgentVersion({ ...deleted, ...change });
  expect(stepOf({}).kind).toBe('check');
  expect(stepOf({ outcome: loaded }).kind).toBe('run');
  expect(stepOf({ outcome: loaded, isWanted: true, mayRun: true }).kind).toBe('wait');
  expect(stepOf({ outcome: { kind: 'late' }, mayRun: true }).kind).toBe('wait');
  const ended = { kind: 'settle', result: { kind: 'held', agent: 'desk', observed: undefined } };
  expect(stepOf({ outcome: { ...loaded, failed: ['a test'] } as typeof loaded })).toEqual(ended);
  expect(stepOf({ outcome: loaded, differences: ['another guardrail'] })).toEqual(ended);
  expect(stepOf({ isConfigured: false })).toEqual(ended);
  expect(stepOf({ isForeignImage: true })).toEqual(ended);
  expect(stepOf({ outcome: loaded, routedBy: undefined }).kind).toBe('let_go');
});

test.each([
  ['is ready', { state: answering, card: 'verified', problem: undefined }, 'Routed'],
  [
    'reports that it is not ready',
    { state: { ...answering, ready: false }, card: 'verified', problem: undefined },
    'Starting',
  ],
  ['has ended', { state: undefined, card: 'unread', problem: ended }, 'ProcessEnded'],
  ['does not exist', undefined, 'ProcessEnded'],
] as const)(
  'a deleted AgentVersion that a route lists has the reason Routed only while its process is ready: it %s',
  (_title, observed, reason) => {
    const step = decideAgentVersion({ ...deleted, isWanted: true, mayRun: observed !== undefined, observed });
    if (step.kind !== 'settle') throw new TypeError('the pass must settle');
    const message = expect.stringContaining('The deletion waits: the agent desk serves the version.');
    expect(agentVersionConditions(step.result, 1)).toMatchObject([{ type: 'Ready', status: 'False', reason, message }]);
  },
);
