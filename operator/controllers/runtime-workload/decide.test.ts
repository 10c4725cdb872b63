import { describe, expect, test } from 'vitest';
import { decideGeneration } from './decide.ts';
import type { GenerationSnapshot } from './snapshot.ts';
import { makeGenerationStatus } from './status.ts';

const spec = { digest: 'a'.repeat(64), build: 'b1', manifest: '{}', replicas: 1, state: 'Active' } as const;
const running = { addresses: ['http://127.0.0.1:1'], ready: 1, problem: undefined };

const nobody = { askers: [], replicas: 0 };

function snapshot(change: Partial<GenerationSnapshot> = {}): GenerationSnapshot {
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

describe('a workload', () => {
  test.each<readonly [string, Partial<GenerationSnapshot>, object]>([
    ['is run when it is needed', { observed: undefined }, { kind: 'run' }],
    ['is ready when all its processes are', {}, { kind: 'settle', standing: { kind: 'ready' } }],
    [
      'starts while they are not',
      { observed: { ...running, ready: 0 } },
      { standing: { kind: 'starting', problem: undefined } },
    ],
    [
      'says why one is not',
      { observed: { ...running, ready: 0, problem: { reason: 'ProcessEnded', message: 'it died' } } },
      { standing: { kind: 'starting', problem: 'ProcessEnded', message: '0 of 1 processes are ready: it died' } },
    ],
    [
      'gets as many processes as the largest number asked for',
      { need: { askers: ['a'], replicas: 3 } },
      { kind: 'keep', replicas: 3 },
    ],
    ['gets fewer when fewer are asked for', { spec: { ...spec, replicas: 3 } }, { kind: 'keep', replicas: 1 }],
    ['loses its mark when somebody needs it again', { spec: draining }, { kind: 'keep' }],
    [
      'of a build that is gone is not run',
      { runnable: false, observed: undefined },
      { standing: { kind: 'build_missing' } },
    ],
    [
      'whose bundle is lost gets it again before anything runs',
      { bundle: 'lost', observed: undefined },
      { kind: 'restore_bundle' },
    ],
    ['that drains gets its bundle, too', { bundle: 'lost', need: nobody, users: ['a'] }, { kind: 'restore_bundle' }],
    [
      'of a build that is gone needs none',
      { bundle: 'lost', runnable: false },
      { standing: { kind: 'build_missing' } },
    ],
    ['that runs does not need its bundle', { bundle: 'unrecoverable' }, { standing: { kind: 'ready' } }],
    [
      'that does not run says that its bundle cannot be built again',
      { bundle: 'unrecoverable', observed: { ...running, ready: 0 } },
      { standing: { kind: 'bundle_missing' } },
    ],
    ['that nobody needs is marked', { need: nobody }, { kind: 'mark' }],
    [
      'that nobody needs and somebody uses waits',
      { need: nobody, users: ['a'] },
      { standing: { kind: 'in_use', by: ['a'] } },
    ],
    [
      'waits for a replica that is behind',
      { need: nobody, behind: ['b'], users: ['b'] },
      { standing: { kind: 'in_use', by: ['b'] } },
    ],
    ['goes on running while it is used', { need: nobody, users: ['a'], observed: undefined }, { kind: 'run' }],
    ['does not wait longer than a stream may last', { need: nobody, users: ['a'], drained: true }, { kind: 'mark' }],
    ['that is marked and not needed goes', { need: nobody, spec: draining, users: ['a'] }, { kind: 'remove' }],
    ['that is being deleted is left alone', { deleting: true, need: nobody, spec: draining }, { kind: 'settle' }],
  ])('%s', (_name, change, step) => expect(decideGeneration(snapshot(change))).toMatchObject(step));
});

describe('its status', () => {
  const at = new Date(0);
  test('keeps known addresses until others are observed', () => {
    const known = snapshot({
      knownAddresses: ['http://127.0.0.1:7'],
      observed: { addresses: [], ready: 0, problem: undefined },
    });
    expect(makeGenerationStatus(known, { kind: 'ready' }, undefined, at).addresses).toEqual(['http://127.0.0.1:7']);
    expect(makeGenerationStatus({ ...known, observed: running }, { kind: 'ready' }, undefined, at).addresses).toEqual(
      running.addresses,
    );
    expect(
      makeGenerationStatus(snapshot({ observed: undefined }), { kind: 'ready' }, undefined, at),
    ).not.toHaveProperty('addresses');
  });

  test('leaves the passed tests to who writes them', () => {
    expect(makeGenerationStatus(snapshot(), { kind: 'ready' }, ['t'], at).testsPassed).toEqual(['t']);
    expect(makeGenerationStatus(snapshot(), { kind: 'ready' }, undefined, at)).not.toHaveProperty('testsPassed');
  });

  test.each([
    [{ kind: 'ready' }, 'Ready', 'True'],
    [{ kind: 'starting', message: 'm', problem: undefined }, 'Starting', 'Unknown'],
    [{ kind: 'starting', message: 'm', problem: 'Unschedulable' }, 'Starting', 'False'],
    [{ kind: 'build_missing' }, 'Starting', 'False'],
    [{ kind: 'bundle_missing' }, 'Starting', 'False'],
    [{ kind: 'in_use', by: ['a'] }, 'Draining', 'True'],
  ] as const)('of %o is %s and %s', (standing, state, status) => {
    const made = makeGenerationStatus(snapshot(), standing, undefined, at);
    expect(made.state).toBe(state);
    expect(made.conditions?.[0]?.status).toBe(status);
  });
});
