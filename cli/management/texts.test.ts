import { expect, test } from 'vitest';
import { operationText } from './texts.ts';

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

test('the text of an operation has the id of its target in wide output only', () => {
  expect(operationText(operation, false)).toBe(`policy.update: running\n${last}`);
  expect(operationText(operation, true)).toBe(`policy.update of policy ${policyId}: running\n${last}`);
});

test('the text of a failed operation has the cause of the application, else the meaning of the code', () => {
  const traceId = '0'.repeat(32);
  const failed = (cause: string | null) =>
    operationText(
      {
        ...operation,
        kind: 'binding.apply',
        state: 'failed',
        error: { code: 'rule_too_costly', message: 'A rule is too costly.', cause, traceId },
      },
      false,
    );
  expect(failed('Rule r1 takes 90 ms.')).toBe(`binding.apply: failed (rule_too_costly)\nRule r1 takes 90 ms.\n${last}`);
  expect(failed(null)).toBe(`binding.apply: failed (rule_too_costly)\nA rule is too costly.\n${last}`);
});
