import { expect, test } from 'vitest';
import { createFakeClock } from '#kit/testing/fake-clock';
import { callerOfContext } from '../calls/caller-of-context.ts';
import { RunRing, ringLimits } from './run-ring.ts';

const place = { node: 'n', kind: 'input' } as const;
const run = (runId: string, person = 'ann') => {
  const context = { userIssuer: 'people', userId: person, actors: [], versionId: 'v' };
  return { runId, traceId: 'trace', context, entrypoint: 'main', input: null };
};
const keyOf = (person: string) => callerOfContext(run('', person));

test('the run ring keeps the newest runs, each with its first nodes', () => {
  const ring = new RunRing(createFakeClock(), () => undefined);
  for (let count = 1; count <= ringLimits.runs + 1; count += 1) {
    ring.started(run(`run-${count}`));
    if (count === ringLimits.runs) expect(ring.list().at(-1)?.runId).toBe('run-1');
    if (count !== 2) ring.ended(`run-${count}`, 'none');
  }
  expect(ring.list().map(({ runId }) => runId)).toHaveLength(ringLimits.runs);
  expect(ring.list().at(-1)?.runId).toBe('run-2');
  const start = (count: number) => ring.event('run-2', { type: 'nodeStarted', ...place, path: `loop[${count}]/n` });
  for (let count = 1; count <= ringLimits.nodes; count += 1) start(count);
  expect(ring.get('run-2')).toMatchObject({ omittedNodes: 0 });
  start(ringLimits.nodes + 1);
  ring.ended('run-2', 'none');
  expect(ring.get('run-2')).toMatchObject({ code: 'none', durationMs: 0, omittedNodes: 1 });
  expect(ring.get('run-2')?.nodes).toHaveLength(ringLimits.nodes);
});

test('the end of a run that was in progress while many others began and ended is counted', () => {
  const ended: string[] = [];
  const ring = new RunRing(createFakeClock(), (code) => ended.push(code));
  ring.started(run('long'));
  for (let count = 1; count <= ringLimits.runs; count += 1) {
    ring.started(run(`run-${count}`));
    ring.ended(`run-${count}`, 'none');
  }
  expect([ring.list().length, ring.list().at(-1)?.runId]).toEqual([ringLimits.runs, 'long']);
  ring.ended('long', 'deadline_exceeded');
  expect(ended.filter((code) => code === 'deadline_exceeded')).toHaveLength(1);
  expect(ring.get('long')).toMatchObject({ code: 'deadline_exceeded' });
  ring.started(run('next'));
  expect(ring.get('long')).toBeUndefined();
});

test('runs in progress are kept, even above the capacity of the ring, and the oldest ended runs are removed first', () => {
  const ring = new RunRing(createFakeClock(), () => undefined);
  for (let count = 1; count <= ringLimits.runs + 2; count += 1) ring.started(run(`run-${count}`));
  expect(ring.list()).toHaveLength(ringLimits.runs + 2);
  for (const runId of ['run-5', 'run-3', 'run-4']) ring.ended(runId, 'none');
  expect(ring.list().map(({ runId }) => runId)).toContain('run-4');
  expect([ring.get('run-5'), ring.get('run-3')]).toEqual([undefined, undefined]);
});

test('a node in a trace has its start time, and its end time once it has ended', () => {
  const clock = createFakeClock();
  const ring = new RunRing(clock, () => undefined);
  ring.started(run('run-1'));
  clock.advance(5);
  ring.event('run-1', { type: 'nodeStarted', ...place, path: 'n' });
  expect(ring.get('run-1')?.nodes).toEqual([{ path: 'n', kind: 'input', startedMs: 5 }]);
  clock.advance(7);
  const end = { outcome: 'timeout', attempts: 2, durationMs: 7 } as const;
  ring.event('run-1', { type: 'nodeEnded', ...place, path: 'n', ...end });
  ring.ended('run-1', 'deadline_exceeded', { step: 'entry_point', flowCode: 'timeout' });
  expect(ring.get('run-1')).toMatchObject({
    durationMs: 12,
    code: 'deadline_exceeded',
    step: 'entry_point',
    flowCode: 'timeout',
    nodes: [{ path: 'n', kind: 'input', startedMs: 5, ...end }],
  });
});

test('a caller can read the traces of its own runs, and cannot read traces of another caller', () => {
  const ring = new RunRing(createFakeClock(), () => undefined);
  ring.started(run('run-1', 'ann'));
  ring.started(run('run-2', 'bob'));
  expect(ring.list(keyOf('ann')).map(({ runId }) => runId)).toEqual(['run-1']);
  expect([ring.get('run-1', keyOf('ann'))?.runId, ring.get('run-2', keyOf('ann'))]).toEqual(['run-1', undefined]);
  expect(ring.list().map(({ runId }) => runId)).toEqual(['run-2', 'run-1']);
  expect(JSON.stringify(ring.list())).not.toContain('ann');
});

test('an ended run is kept for a day, and a run in progress stays', () => {
  const clock = createFakeClock();
  const ring = new RunRing(clock, () => undefined);
  ring.started(run('run-1'));
  ring.started(run('run-2'));
  ring.ended('run-1', 'none');
  clock.advance(ringLimits.keptMs - 1);
  expect(ring.get('run-1')?.runId).toBe('run-1');
  clock.advance(1);
  expect(ring.get('run-1')).toBeUndefined();
  expect(ring.list().map(({ runId }) => runId)).toEqual(['run-2']);
});
