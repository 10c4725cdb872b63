import { describe, expect, test } from 'vitest';
import type { ProcessView } from '../resources/resource-source.ts';
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

function viewOf(parts: { routes?: readonly Loose[]; reports?: readonly Loose[]; gateways?: readonly ProcessView[] }) {
  const { routes = [], reports = [], gateways } = parts;
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
    generations: [],
    routes,
    reports,
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
