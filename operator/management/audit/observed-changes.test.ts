import { expect, test } from 'vitest';
import type { OperationResult } from '#contracts/management';
import { idLabel } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ApplicationRecord, ModelBinding } from '#resources/model-binding';
import type { CommandRecord } from '../operations/command-record.ts';
import { changesOfBinding, isMadeBy } from './observed-changes.ts';

const operation = '01900000-0000-7000-8000-000000000001';
const record = (generationId: string, change: Partial<ApplicationRecord> = {}): ApplicationRecord => ({
  operationId: operation,
  contentProfile: 'text.v1',
  outcome: 'Applied',
  generationId,
  time: `2026-01-01T00:00:0${generationId.slice(1)}.000Z`,
  ...change,
});
const bound = { policyId: '01900000-0000-7000-8000-0000000000aa', policyRevision: 1 };

const modelId = '01900000-0000-7000-8000-0000000000bb';

function changesOf(...applications: readonly ApplicationRecord[]) {
  return changesOfPinned(undefined, ...applications);
}

function changesOfPinned(pinned: object | undefined, ...applications: readonly ApplicationRecord[]) {
  const metadata = { name: 'm', uid: 'uid-1', labels: { [idLabel]: modelId } };
  const binding = { metadata, status: { pinned, applications: applications.toReversed() } };
  return changesOfBinding(binding as unknown as Stored<ModelBinding>).toReversed();
}

/** Which applications the token of a command claims, the oldest first. */
function claimedOf(...applications: readonly ApplicationRecord[]): readonly boolean[] {
  return changesOf(...applications).map(({ claims }) => claims !== undefined);
}

const ended = '2026-01-01T00:00:05.000Z';

/** A command that applies revision 1. */
function commandOf(change: Partial<CommandRecord>): CommandRecord {
  const result: OperationResult = {
    modelId,
    policyId: bound.policyId,
    policyRevision: 1,
    generationId: 'g1',
    bundleDigest: null,
  };
  const after = { policyId: bound.policyId, revision: 1, digest: null };
  return {
    operationId: operation,
    kind: 'binding.apply',
    state: 'succeeded',
    target: { type: 'model', id: modelId },
    traceId: '0'.repeat(32),
    origin: { author: { kind: 'unknown' }, groups: [], client: 'none', before: null, after },
    accepted: true,
    overridesFreeze: false,
    written: { uid: 'uid-1', generation: 2 },
    result,
    failure: undefined,
    createdAt: new Date(0),
    updatedAt: new Date(ended),
    ...change,
  };
}

/** Whether a command made an application, if the resources have no older one. */
function madeBy(command: CommandRecord, application: ApplicationRecord): boolean | undefined {
  const [change] = changesOf(application);
  return change?.claims === undefined ? false : isMadeBy(change.claims, command);
}

test('an application that a client repeats with the token of a confirmed command is not attributed to that command', () => {
  expect(claimedOf(record('g1'), record('g2', bound), record('g3'))).toEqual([true, false, false]);
  expect(claimedOf(record('g1', bound), record('g2', { ...bound, policyRevision: 2 }), record('g3', bound))).toEqual([
    true,
    false,
    false,
  ]);
});

test('an application that failed because of a missing dependency and is confirmed later is still attributed to its command', () => {
  expect(claimedOf(record('g1', { outcome: 'Failed', reason: 'provider_unavailable' }), record('g1'))).toEqual([
    true,
    true,
  ]);
});

test('an edit that returns a binding to the content that a command applied is not attributed to the command', () => {
  const other = { operationId: '01900000-0000-7000-8000-000000000002', ...bound };
  const failed = { ...other, outcome: 'Failed', reason: 'replica_rejected' } as const;
  expect(
    claimedOf(record('g1', bound), record('g2', failed), record('g1', { ...bound, time: '2026-01-01T00:00:09.000Z' })),
  ).toEqual([true, true, false]);
});

test('a second failure with the token of a failed command is attributed to the command only before the command ends', () => {
  const failure = (second: string) => record('g1', { ...failedApplication, time: `2026-01-01T00:00:0${second}Z` });
  const secondOf = (...records: readonly ApplicationRecord[]) => {
    const change = changesOf(...records).at(-1);
    return change?.claims === undefined ? false : isMadeBy(change.claims, commandOf(failed));
  };
  expect(secondOf(failure('1.000'), failure('5.000'))).toBe(true);
  expect(secondOf(failure('1.000'), failure('5.001'))).toBe(false);
  expect(secondOf(failure('5.001'))).toBe(true);
});

const failedApplication = { ...bound, outcome: 'Failed', reason: 'provider_unknown' } as const;
const failed = { state: 'failed', result: undefined, failure: { code: 'provider_unknown', message: '' } } as const;
const unbind = { kind: 'binding.unbind', origin: { ...commandOf({}).origin, after: null } } as const;

test('a successful command is credited with its own generation, and not with one that a client applies later with its token', () => {
  expect([madeBy(commandOf({}), record('g1', bound)), madeBy(commandOf({}), record('g9', bound))]).toEqual([
    true,
    false,
  ]);
});

test('no change with the token of an unbind is attributed to the unbind if it was not executed', () => {
  const notExecuted = { ...failed, accepted: false, written: undefined };
  expect(madeBy(commandOf({ ...unbind, ...notExecuted }), record('g9'))).toBe(false);
  expect(madeBy(commandOf({ ...unbind }), record('g1'))).toBe(true);
});

test('a failed command is credited with its failure, and a later application by the operator has a separate audit entry', () => {
  expect(madeBy(commandOf(failed), record('g1', failedApplication))).toBe(true);
  expect(madeBy(commandOf(failed), record('g1', bound))).toBe(false);
});

test('a failure before the end of a successful command is attributed to the command, and a later one is not', () => {
  const { generationId: _none, ...unrouted } = record('g1', failedApplication);
  expect(madeBy(commandOf({}), { ...unrouted, time: ended })).toBe(true);
  expect(madeBy(commandOf({}), { ...unrouted, time: '2026-01-01T00:00:05.001Z' })).toBe(false);
});

test('the author of an application stays undecided until its command has ended, unless the application has other content', () => {
  for (const state of ['pending', 'running'] as const) {
    const command = commandOf({ state, result: undefined, accepted: state === 'running' });
    expect([state, madeBy(command, record('g1', bound))]).toEqual([state, undefined]);
    expect(madeBy(command, record('g1', { ...bound, policyRevision: 2 }))).toBe(false);
  }
});

test('the record of an application has the state of the previous confirmed one, and the digest of the serving bundle', () => {
  const digest = 'a'.repeat(64);
  const second = { ...bound, policyRevision: 2 };
  const states = changesOfPinned(
    { generationId: 'g3', digest },
    record('g1', bound),
    record('g2', { ...failedApplication, policyRevision: 3 }),
    record('g3', second),
    record('g4'),
  ).map(({ content }) => [content.before, content.after]);
  const { policyId } = bound;
  const first = { policyId, revision: 1, digest: null };
  const serving = { policyId, revision: 2, digest };
  expect(states).toEqual([
    [null, first],
    [first, { policyId, revision: 3, digest: null }],
    [first, serving],
    [serving, null],
  ]);
});
