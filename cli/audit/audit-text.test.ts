import { expect, test } from 'vitest';
import type { AuditEntry } from '#contracts/audit';
import { auditTable } from './audit-text.ts';

const digest = '0'.repeat(64);

function rowOf(content: Partial<AuditEntry['content']>, isWide = false): string {
  const entry = {
    ...{ chain: 'management', number: 1, previous: digest, hash: digest },
    content: {
      ...{ time: '2026-01-31T09:00:00.000Z', action: 'agent.serve', outcome: 'observed', code: null, client: 'none' },
      ...{ author: { kind: 'unknown' }, target: { type: 'agent', id: 'id-1' }, operationId: null, traceId: null },
      ...{ before: null, after: null, count: 1, since: null, ...content },
    },
  } as AuditEntry;
  return auditTable([entry], () => 'desk', isWide).split('\n')[1] ?? '';
}

test('the text of an audit entry about an agent has its name, and the versions before and after', () => {
  const before = { version: 'desk-1', canary: null };
  const after = { version: 'desk-1', canary: { version: 'desk-2', percent: 10 } };
  expect(rowOf({ serving: { before, after } })).toMatch(/ agent desk +desk-1 +desk-1, 10 % desk-2$/);
  expect(rowOf({ serving: { before: null, after: before } })).toMatch(/ agent desk +- +desk-1$/);
});

test('the text of an audit entry about rights has their numbers and one change, and the wide text has every change', () => {
  const access = {
    before: { count: 2, digest },
    after: { count: 3, digest },
    granted: ['invoke Group acme/all', 'view Group acme/all'],
    revoked: ['owner User https://idp|ann'],
  };
  expect(rowOf({ action: 'agent.access', access })).toMatch(/ 2 rights +3 rights: \+invoke Group acme\/all, 2 more$/);
  expect(rowOf({ action: 'agent.access', access }, true)).toContain(
    '3 rights: +invoke Group acme/all, +view Group acme/all, -owner User https://idp|ann',
  );
});

test('the text of an audit entry that names ten of fifteen rights contains the number of the other rights', () => {
  const rights = (name: string) => Array.from({ length: 10 }, (_, at) => `view Group acme/${name}-${at}`);
  const named = { granted: rights('new'), revoked: rights('old') };
  const access = { ...named, before: { count: 20, digest }, after: { count: 20, digest } };
  const rowWith = (counts: object, isWide: boolean) =>
    rowOf({ action: 'agent.access', access: { ...access, ...counts } }, isWide);
  const counts = { grantedCount: 15, revokedCount: 12 };
  expect(rowWith(counts, true)).toMatch(/-view Group acme\/old-9, 7 more /);
  expect(rowWith(counts, false)).toMatch(/20 rights: \+view Group acme\/new-0, 26 more$/);
  expect(rowWith({ grantedCount: 10, revokedCount: 10 }, true)).not.toContain('more');
  expect(rowWith({}, true)).not.toContain('more');
});

test('the text of an audit entry about a deletion has the previous state', () => {
  const serving = { before: { version: 'desk-1', canary: null }, after: null };
  const rights = { granted: [], revoked: ['owner User https://idp|ann'], grantedCount: 0, revokedCount: 1 };
  const access = { before: { count: 1, digest }, after: null, ...rights };
  expect(rowOf({ action: 'agent.delete', serving, access })).toMatch(/ agent desk +desk-1, 1 right +-$/);
});

test('the text of an audit entry about settings of a model names the changed members', () => {
  const settings = { before: digest, after: digest, changed: ['judge', 'streaming'] as const };
  expect(rowOf({ action: 'binding.update', settings: { ...settings, changed: [...settings.changed] } })).toMatch(
    / - +judge, streaming$/,
  );
});

test('the text of an audit entry about a policy has revision and digest', () => {
  const after = { policyId: 'id', revision: 2, digest: 'a'.repeat(64) };
  expect(rowOf({ action: 'policy.record', target: { type: 'policy', id: 'id' }, after })).toMatch(/ - +r2 a{12}$/);
});
