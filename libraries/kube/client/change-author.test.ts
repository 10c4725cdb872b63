import { expect, test } from 'vitest';
import { appliedByAnnotation, writtenByAnnotation } from '#resources/kinds';
import { applicationNote, changeNote, changeTime, keepAuthors } from './change-author.ts';

const entry = (manager: string, time: string, change: object = {}) => ({
  manager,
  operation: 'Update',
  time,
  fieldsV1: { 'f:spec': {} },
  ...change,
});
const read = (...managedFields: readonly unknown[]) => keepAuthors({ name: 'a', managedFields }, false);

test('the field manager that changed the spec of an object last is kept, and managedFields are removed', () => {
  const metadata = read(
    entry('kubectl-create', '2026-01-01T00:00:00Z'),
    entry('kubectl-edit', '2026-01-02T00:00:00Z'),
    entry('operator', '2026-01-03T00:00:00Z', { fieldsV1: { 'f:metadata': {} } }),
    entry('operator', '2026-01-04T00:00:00Z', { subresource: 'status' }),
  );
  expect(changeNote(metadata)).toEqual({ author: 'kubectl-edit (field manager)' });
  expect(changeTime(metadata)).toBe('2026-01-02T00:00:00Z');
  expect(JSON.stringify(metadata)).toBe('{"name":"a"}');
});

test('if two managers wrote in the same second none is named, otherwise the last one', () => {
  const [early, late] = ['2026-01-01T00:00:00Z', '2026-01-01T00:00:01Z'];
  const both = [entry('kubectl-patch', early), entry('portcullis', early)];
  expect(changeNote(read(...both))).toEqual({});
  expect(changeTime(read(...both))).toBe(early);
  expect(changeNote(read(...both, entry('kubectl-edit', late)))).toEqual({ author: 'kubectl-edit (field manager)' });
  expect(changeNote(read(entry('kubectl-edit', late), ...both))).toEqual({ author: 'kubectl-edit (field manager)' });
  expect(changeNote(read(entry('a', early), entry('a', early)))).toEqual({ author: 'a (field manager)' });
});

test.each([
  ['an object without managedFields', []],
  ['an entry without a name', [entry('', '2026-01-01T00:00:00Z')]],
  ['a name with a control character', [entry('a\u0007', '2026-01-01T00:00:00Z')]],
  ['an entry that is not an object', ['text', null]],
])('no author is derived from %s', (_name, entries) => {
  expect(changeNote(read(...entries))).toEqual({});
  expect(changeTime(read([]))).toBeUndefined();
});

const managedFields = [entry('kubectl-edit', '2026-01-01T00:00:00Z')];
const stated = { author: 'ann (command line)', message: 'why' };
const named = (annotations: Readonly<Record<string, string>> | undefined, namesUsers = true) =>
  keepAuthors({ name: 'a', managedFields, annotations }, namesUsers);

test('the user whom the API server names is the author of a change, whatever its writer stated', () => {
  const metadata = named({ [writtenByAnnotation]: 'bob', [appliedByAnnotation]: 'carol' });
  expect(changeNote(metadata)).toEqual({ author: 'bob (Kubernetes user)' });
  expect(changeNote(metadata, stated)).toEqual({ author: 'bob (Kubernetes user)', message: 'why' });
  expect(applicationNote(metadata, stated)).toEqual({ author: 'carol (Kubernetes user)', message: 'why' });
});

test('the writer of the spec is not taken for the user who requested the application', () => {
  const metadata = named({ [writtenByAnnotation]: 'bob' });
  expect(applicationNote(metadata, stated)).toEqual(stated);
  expect(applicationNote(metadata)).toEqual({ author: 'kubectl-edit (field manager)' });
});

test('the annotations are not believed where the API server does not set them', () => {
  const metadata = named({ [writtenByAnnotation]: 'bob', [appliedByAnnotation]: 'bob' }, false);
  expect(changeNote(metadata, stated)).toEqual(stated);
  expect(changeNote(metadata)).toEqual({ author: 'kubectl-edit (field manager)' });
  expect(applicationNote(metadata)).toEqual({ author: 'kubectl-edit (field manager)' });
});

test.each([undefined, {}])('without a named user the author is the stated one, else the field manager (%j)', (none) => {
  expect(changeNote(named(none), stated)).toEqual(stated);
  expect(changeNote(named(none))).toEqual({ author: 'kubectl-edit (field manager)' });
});

test.each([
  ['of 238 characters is the author', 'u'.repeat(238), true],
  ['of 239 characters is unknown', 'u'.repeat(239), false],
  ['with a line break is unknown', 'a\nb', false],
])('a user with a name %s, and the stated author never is', (_title, user, isUsable) => {
  const author = isUsable ? { author: `${user} (Kubernetes user)` } : {};
  expect(changeNote(named({ [writtenByAnnotation]: user }), stated)).toEqual({ ...author, message: 'why' });
});
