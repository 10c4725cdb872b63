import { expect, test } from 'vitest';
import { changeTime, keepLastManager, managerNote } from './field-manager.ts';

const entry = (manager: string, time: string, change: object = {}) => ({
  manager,
  operation: 'Update',
  time,
  fieldsV1: { 'f:spec': {} },
  ...change,
});
const read = (...managedFields: readonly unknown[]) => keepLastManager({ name: 'a', managedFields });

test('the field manager that changed the spec of an object last is kept, and managedFields are removed', () => {
  const metadata = read(
    entry('kubectl-create', '2026-01-01T00:00:00Z'),
    entry('kubectl-edit', '2026-01-02T00:00:00Z'),
    entry('operator', '2026-01-03T00:00:00Z', { fieldsV1: { 'f:metadata': {} } }),
    entry('operator', '2026-01-04T00:00:00Z', { subresource: 'status' }),
  );
  expect(managerNote(metadata)).toEqual({ author: 'kubectl-edit (field manager)' });
  expect(changeTime(metadata)).toBe('2026-01-02T00:00:00Z');
  expect(JSON.stringify(metadata)).toBe('{"name":"a"}');
});

test('if two managers wrote in the same second none is named, otherwise the last one', () => {
  const [early, late] = ['2026-01-01T00:00:00Z', '2026-01-01T00:00:01Z'];
  const both = [entry('kubectl-patch', early), entry('portcullis', early)];
  expect(managerNote(read(...both))).toEqual({});
  expect(changeTime(read(...both))).toBe(early);
  expect(managerNote(read(...both, entry('kubectl-edit', late)))).toEqual({ author: 'kubectl-edit (field manager)' });
  expect(managerNote(read(entry('kubectl-edit', late), ...both))).toEqual({ author: 'kubectl-edit (field manager)' });
  expect(managerNote(read(entry('a', early), entry('a', early)))).toEqual({ author: 'a (field manager)' });
});

test.each([
  ['an object without managedFields', []],
  ['an entry without a name', [entry('', '2026-01-01T00:00:00Z')]],
  ['a name with a control character', [entry('a\u0007', '2026-01-01T00:00:00Z')]],
  ['an entry that is not an object', ['text', null]],
])('no author is derived from %s', (_name, entries) => {
  expect(managerNote(read(...entries))).toEqual({});
  expect(changeTime(read([]))).toBeUndefined();
});
