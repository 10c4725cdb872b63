import { expect, test } from 'vitest';
import { auditOperations } from './audit-operations.ts';

const [listAudit] = auditOperations;
const cursor = listAudit?.parameters.find(({ name }) => name === 'cursor');

test.each([
  ['1', true],
  ['9223372036854775807', true],
  ['9223372036854775808', false],
  ['9999999999999999999', false],
  ['0', false],
  ['01', false],
  ['1x', false],
])('a cursor of the audit log names a position that PostgreSQL can hold: %s', (position, isCursor) => {
  for (const order of ['newest', 'oldest']) {
    const text = Buffer.from(JSON.stringify([`audit-${order}/v1`, position])).toString('base64url');
    expect(cursor?.read?.(text)).toBe(isCursor ? text : undefined);
  }
});
