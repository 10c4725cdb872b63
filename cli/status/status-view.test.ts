import { describe, expect, test } from 'vitest';
import type { ProcessView } from '#diagnosis/surroundings';
import type { InstallationStatus } from './read-status.ts';
import { statusText } from './status-text.ts';
import { viewOfStatus } from './status-view.ts';

type Loose = Readonly<Record<string, unknown>>;

const route = (name: string, version: string, gateway = 'default'): Loose => ({
  metadata: { name, uid: `uid-of-${name}`, resourceVersion: version },
  spec: { gateway, guardrail: { mode: 'None' }, state: 'Enabled' },
});
const entry = (name: string, version: string): Loose => ({ route: name, uid: `uid-of-${name}`, version });
const report = (name: string, spec: Loose): Loose => ({
  metadata: { name },
  spec: { gateway: 'default', ready: true, appliedThrough: '20', pending: [], rejected: [], inUse: [], ...spec },
});

type Parts = {
  routes?: readonly Loose[];
  reports?: readonly Loose[];
  gateways?: readonly ProcessView[];
  collections?: readonly Loose[];
  agents?: readonly Loose[];
};

function viewOf(parts: Parts) {
  const { routes = [], reports = [], gateways, collections = [], agents = [] } = parts;
  const operator = {
    state: 'leading',
    message: 'one is the leader.',
    holder: 'one',
    replicas: [{ name: 'two', ready: true }],
  } as const;
  const surroundings = { operator, problems: [], ...(gateways === undefined ? {} : { gateways }) };
  return viewOfStatus({
    namespace: 'team',
    surroundings,
    policies: [],
    bindings: [],
    workloads: [],
    routes,
    reports,
    collections,
    agentVersions: [],
    agents,
  } as unknown as InstallationStatus);
}

describe('replicas in the status', () => {
  const routes = [
    route('loaded', '10'),
    route('pending', '11'),
    route('rejected', '12'),
    route('changed', '13'),
    route('new', '30'),
    route('foreign', '14', 'other'),
  ];
  const spec = {
    pending: [entry('pending', '11')],
    rejected: [
      { ...entry('rejected', '12'), reason: 'no' },
      { ...entry('changed', '9'), reason: 'no' },
    ],
    inUse: [
      { workload: 'g-2', generationId: 'a' },
      { workload: 'g-1', generationId: 'b' },
      { workload: 'g-2', generationId: 'c' },
    ],
  };

  test('portcullis status shows a replica with the current routes of its gateway and ignores a rejection of an older version', () => {
    expect(viewOf({ routes, reports: [report('gateway-1', spec)] }).gateways).toEqual([
      {
        gateway: 'default',
        replica: 'gateway-1',
        ready: true,
        loaded: ['loaded'],
        pending: ['pending'],
        stale: ['changed', 'new'],
        rejected: [{ route: 'rejected', reason: 'no' }],
        inUse: ['g-1', 'g-2'],
      },
    ]);
  });

  test('portcullis status shows a report without a process and a process without a report with their problem', () => {
    const gateways = [{ name: 'silent', ready: false, problem: 'ErrImagePull' }];
    const rows = viewOf({ reports: [report('gone', {})], gateways }).gateways;
    expect(rows.map(({ replica, problem }) => [replica, problem])).toEqual([
      ['silent', 'ErrImagePull'],
      ['gone', 'its process has ended'],
    ]);
    expect(viewOf({ reports: [report('unseen', {})] }).gateways[0]).not.toHaveProperty('problem');
  });
});

test('portcullis status of an empty installation is a few sentences and names the standby replicas', () => {
  expect(statusText(viewOf({}), false)).toBe(
    'Operator: one is the leader. Standby: two.\n\nNo gateway replica has reported.\n\nThere is no binding.\n\nThere is no workload.',
  );
});

describe('collections in the status', () => {
  const condition = (status: string, reason: string, observedGeneration = 1) => ({
    type: 'Ready',
    status,
    reason,
    message: `said ${reason}.`,
    observedGeneration,
  });
  const collection = (name: string, metadata: Loose, status: Loose): Loose => ({
    metadata: { name, generation: 1, ...metadata },
    spec: { tenant: 'acme', name: `of ${name}` },
    status: { documents: 3, ...status },
  });
  const building = { state: 'Building', documentsDone: 1, documentsTotal: 3 };
  const failed = { ...condition('True', 'ReindexFailed'), type: 'ProfileActive' };

  test('portcullis status shows each collection of a resource with its state, its reindex and why it is not ready', () => {
    const view = viewOf({
      collections: [
        collection('well', {}, { conditions: [condition('True', 'Ready')] }),
        collection('building', {}, { conditions: [condition('True', 'Ready')], reindex: building }),
        collection('stuck', {}, { conditions: [condition('True', 'Ready'), failed] }),
        collection('faulty', {}, { conditions: [condition('False', 'NameTaken')] }),
        collection('edited', { generation: 2 }, { conditions: [condition('True', 'Ready')] }),
        collection('held', { deletionTimestamp: 'now' }, { conditions: [condition('False', 'DeletionHeld')] }),
        collection('leaving', { deletionTimestamp: 'now' }, { conditions: [condition('True', 'Ready')] }),
      ],
    });
    expect(view.collections?.map(({ name, state, reindex, why }) => [name, state, reindex?.done, why])).toEqual([
      ['well', 'ready', undefined, undefined],
      ['building', 'reindexing', 1, undefined],
      ['stuck', 'ready', undefined, 'said ReindexFailed.'],
      ['faulty', 'faulty', undefined, 'said NameTaken.'],
      ['edited', 'waiting', undefined, 'the operator has not processed it yet'],
      ['held', 'deleting', undefined, 'said DeletionHeld.'],
      ['leaving', 'deleting', undefined, 'the collection is being deleted'],
    ]);
    expect(statusText(view, false)).toMatch(/building +acme +of building +reindexing +3 +1\/3 +-/);
  });

  test('portcullis status has no section about collections when there are none', () => {
    expect(viewOf({})).not.toHaveProperty('collections');
  });
});

test('portcullis status shows each agent with what gateways serve, its canary and why it is not served', () => {
  const ready = { type: 'Ready', status: 'True', reason: 'Ready', message: 'it is served.', observedGeneration: 1 };
  const missing = { ...ready, status: 'False', reason: 'VersionNotFound', message: 'there is no AgentVersion b-2.' };
  const agent = (name: string, status: Loose): Loose => ({ metadata: { name, generation: 1 }, spec: {}, status });
  const view = viewOf({
    agents: [
      agent('a', {
        conditions: [ready],
        served: { version: 'a-1', versionId: 'one' },
        canary: { version: 'a-2', versionId: 'two', percent: 10 },
      }),
      agent('b', { conditions: [missing] }),
    ],
  });
  expect(view.agents?.map(({ name, state, version, canary, why }) => [name, state, version, canary, why])).toEqual([
    ['a', 'ready', 'a-1', 'a-2 (10 %)', undefined],
    ['b', 'faulty', undefined, undefined, 'there is no AgentVersion b-2.'],
  ]);
  expect(statusText(view, false)).toMatch(/b +faulty +- +- +there is no AgentVersion b-2\./);
  expect(viewOf({})).not.toHaveProperty('agents');
});
