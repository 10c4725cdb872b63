import { describe, expect, test } from 'vitest';
import { decideWorkload } from './decide.ts';
import type { WorkloadSnapshot } from './snapshot.ts';
import { makeWorkloadStatus } from './status.ts';

const spec = { digest: 'a'.repeat(64), build: 'b1', manifest: '{}', replicas: 1, state: 'Active' } as const;
const running = { addresses: ['http://127.0.0.1:1'], ready: 1, problem: undefined };

const nobody = { askers: [], replicas: 0 };

function snapshot(change: Partial<WorkloadSnapshot> = {}): WorkloadSnapshot {
  return {
    name: 'g-1',
    generation: 1,
    deleting: false,
    spec,
    conditions: [],
    knownAddresses: [],
    runnable: true,
    bundle: 'stored',
    observed: running,
    need: { askers: ['chat'], replicas: 1 },
    users: [],
    behind: [],
    drained: false,
    ...change,
  };
}

const draining = { ...spec, state: 'Draining' } as const;

describe('the next step of a workload', () => {
  test.each<readonly [string, Partial<WorkloadSnapshot>, object]>([
    ['is run when it is needed', { observed: undefined }, { kind: 'run' }],
    ['is ready when all its processes are ready', {}, { kind: 'settle', result: { kind: 'ready' } }],
    [
      'is starting while a process is not ready',
      { observed: { ...running, ready: 0 } },
      { result: { kind: 'starting', problem: undefined } },
    ],
    [
      'reports why a process is not ready',
      { observed: { ...running, ready: 0, problem: { reason: 'ProcessEnded', message: 'it died' } } },
      { result: { kind: 'starting', problem: 'ProcessEnded', message: '0 of 1 processes are ready: it died' } },
    ],
    [
      'gets as many processes as the largest requested number',
      { need: { askers: ['a'], replicas: 3 } },
      { kind: 'keep', replicas: 3 },
    ],
    [
      'is scaled down when fewer processes are requested',
      { spec: { ...spec, replicas: 3 } },
      { kind: 'keep', replicas: 1 },
    ],
    ['loses its mark when it is needed again', { spec: draining }, { kind: 'keep' }],
    [
      'of a build that is not available is not run',
      { runnable: false, observed: undefined },
      { result: { kind: 'build_missing' } },
    ],
    [
      'whose bundle is lost has it restored before a process starts',
      { bundle: 'lost', observed: undefined },
      { kind: 'restore_bundle' },
    ],
    ['that drains has its bundle restored', { bundle: 'lost', need: nobody, users: ['a'] }, { kind: 'restore_bundle' }],
    [
      'of a build that is not available needs no bundle',
      { bundle: 'lost', runnable: false },
      { result: { kind: 'build_missing' } },
    ],
    ['that runs does not need its bundle', { bundle: 'unrecoverable' }, { result: { kind: 'ready' } }],
    [
      'that does not run reports a bundle that cannot be rebuilt',
      { bundle: 'unrecoverable', observed: { ...running, ready: 0 } },
      { result: { kind: 'bundle_missing' } },
    ],
    ['that is not needed is marked for deletion', { need: nobody }, { kind: 'mark' }],
    [
      'that is not needed but still used waits',
      { need: nobody, users: ['a'] },
      { result: { kind: 'in_use', by: ['a'] } },
    ],
    [
      'waits for a replica whose report is behind',
      { need: nobody, behind: ['b'], users: ['b'] },
      { result: { kind: 'in_use', by: ['b'] } },
    ],
    ['keeps running while it is used', { need: nobody, users: ['a'], observed: undefined }, { kind: 'run' }],
    [
      'is marked for deletion after the longest stream, even if it is still used',
      { need: nobody, users: ['a'], drained: true },
      { kind: 'mark' },
    ],
    [
      'that is marked for deletion and not needed is deleted',
      { need: nobody, spec: draining, users: ['a'] },
      { kind: 'remove' },
    ],
    ['that is being deleted is not changed', { deleting: true, need: nobody, spec: draining }, { kind: 'settle' }],
  ])('a workload %s', (_name, change, step) => expect(decideWorkload(snapshot(change))).toMatchObject(step));
});

describe('the status of a workload', () => {
  const at = new Date(0);
  test('the status of a workload keeps known addresses until others are observed', () => {
    const known = snapshot({
      knownAddresses: ['http://127.0.0.1:7'],
      observed: { addresses: [], ready: 0, problem: undefined },
    });
    expect(makeWorkloadStatus(known, { kind: 'ready' }, undefined, at).addresses).toEqual(['http://127.0.0.1:7']);
    expect(makeWorkloadStatus({ ...known, observed: running }, { kind: 'ready' }, undefined, at).addresses).toEqual(
      running.addresses,
    );
    expect(makeWorkloadStatus(snapshot({ observed: undefined }), { kind: 'ready' }, undefined, at)).not.toHaveProperty(
      'addresses',
    );
  });

  test('the status of a workload keeps the passed tests, which have another writer', () => {
    expect(makeWorkloadStatus(snapshot(), { kind: 'ready' }, ['t'], at).testsPassed).toEqual(['t']);
    expect(makeWorkloadStatus(snapshot(), { kind: 'ready' }, undefined, at)).not.toHaveProperty('testsPassed');
  });

  test.each([
    [{ kind: 'ready' }, 'Ready', 'True'],
    [{ kind: 'starting', message: 'm', problem: undefined }, 'Starting', 'Unknown'],
    [{ kind: 'starting', message: 'm', problem: 'Unschedulable' }, 'Starting', 'False'],
    [{ kind: 'build_missing' }, 'Starting', 'False'],
    [{ kind: 'bundle_missing' }, 'Starting', 'False'],
    [{ kind: 'in_use', by: ['a'] }, 'Draining', 'True'],
  ] as const)('the status of a workload with %o is %s and its condition %s', (result, state, status) => {
    const made = makeWorkloadStatus(snapshot(), result, undefined, at);
    expect(made.state).toBe(state);
    expect(made.conditions?.[0]?.status).toBe(status);
  });
});
