import { expect, test } from 'vitest';
import { operationText } from './texts.ts';

test('the text of an operation has the id of its target in wide output only', () => {
  const policyId = '01890a5d-ac96-774b-bcce-b302099a8057';
  const operation: Parameters<typeof operationText>[0] = {
    operationId: '01890a5d-ac96-774b-bcce-b302099a8058',
    kind: 'policy.update',
    state: 'running',
    target: { type: 'policy', id: policyId },
    result: null,
    error: null,
    createdAt: '2026-01-01T00:00:00.000Z',
    updatedAt: '2026-01-01T00:00:00.000Z',
  };
  const last = `Operation: ${operation.operationId}`;
  expect(operationText(operation, false)).toBe(`policy.update: running\n${last}`);
  expect(operationText(operation, true)).toBe(`policy.update of policy ${policyId}: running\n${last}`);
});
