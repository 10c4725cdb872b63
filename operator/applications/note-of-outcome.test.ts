import { expect, test } from 'vitest';
import { keepAuthors } from '#kube/client/change-author';
import { changeNoteAnnotation, writeChangeNote } from '#resources/change-note';
import type { ApplicationRecord, ModelBinding } from '#resources/model-binding';
import { noteOfOutcome } from './note-of-outcome.ts';

const note = { author: 'ann (command line)', message: 'why' };
const outcome = { operationId: 't-1', policyId: 'p', policyRevision: 1, contentProfile: 'c' };
const record = (change: Partial<ApplicationRecord>): ApplicationRecord => ({
  ...outcome,
  outcome: 'Failed',
  time: '2026-01-01T00:00:00Z',
  ...change,
});

function bindingWith(apply: string, applications: readonly ApplicationRecord[] = []) {
  const managedFields = [{ manager: 'kubectl-edit', time: '2026-01-01T00:00:00Z', fieldsV1: { 'f:spec': {} } }];
  const annotations = { [changeNoteAnnotation]: writeChangeNote('t-1', note) };
  const metadata = keepAuthors({ name: 'b', annotations, managedFields }, false);
  return { metadata, spec: { apply } as ModelBinding['spec'], status: { applications: [...applications] } };
}

test('the outcome of an application contains the note of the write that requested it', () => {
  expect(noteOfOutcome(outcome, bindingWith('t-1'))).toEqual(note);
});

test('a later outcome of the same application keeps its note', () => {
  const binding = bindingWith('t-2', [record(note)]);
  expect(noteOfOutcome(outcome, binding)).toEqual(note);
});

test('an edit that keeps the token of another application has the field manager as its author', () => {
  const binding = bindingWith('t-1', [record({ ...note, policyRevision: 2 })]);
  expect(noteOfOutcome(outcome, binding)).toEqual({ author: 'kubectl-edit (field manager)' });
});

test('an application that the binding no longer requests has no author', () => {
  expect(noteOfOutcome(outcome, bindingWith('t-2'))).toEqual({});
});
