import { expect, test } from 'vitest';
import type { ListedOperation } from '#contracts/operations';
import { operationTable } from './operation-table.ts';

const [operationId, id] = ['01900000-0000-7000-8000-000000000001', '01900000-0000-7000-8000-000000000002'];
const times = { createdAt: '2026-01-31T09:00:00.000Z', updatedAt: '2026-01-31T09:00:01.000Z' };
const operation: ListedOperation = {
  ...{ operationId, kind: 'binding.apply', state: 'succeeded', result: null, error: null, ...times },
  ...{ target: { type: 'model', id }, targetName: 'chat', wanted: null, overridesFreeze: false },
  author: { kind: 'token', issuer: 'https://issuer.test', subject: 'ann', actors: [] },
  message: 'for the sales team',
};

const nameOf = (): string => 'chat';

test('a row names the author, the command, its object and its message; a wide one adds the ids', () => {
  expect(operationTable([operation], nameOf, false).split('\n')[1]).toBe(
    `${operationId}   2026-01-31T09:00:00.000Z   ann      binding.apply   model chat   succeeded   for the sales team`,
  );
  const [head = '', row = ''] = operationTable([operation], nameOf, true).split('\n');
  expect(head).toMatch(/OBJECT ID +TRACE +MESSAGE$/);
  expect(row).toMatch(new RegExp(`succeeded +${id} +- +for the sales team$`));
});

test('a failed operation has its code, a removed object its id, and a message cannot move the cursor', () => {
  const error = { code: 'bundle_invalid', message: '', cause: null, traceId: 'a'.repeat(32) } as const;
  const failed = { ...operation, state: 'failed', error, targetName: null, message: null } as const;
  expect(operationTable([failed], (_, unknown) => unknown, false)).toMatch(
    new RegExp(`model ${id} +failed: bundle_invalid +-$`),
  );
  const hostile = operationTable([{ ...operation, message: 'a\u001b[2Jb' }], nameOf, false);
  expect(hostile).toMatch(/a\\x1b\[2Jb$/);
});
