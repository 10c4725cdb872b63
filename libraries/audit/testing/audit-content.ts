import type { AuditContent } from '#contracts/audit';

const start = Date.parse('2026-01-01T00:00:00.000Z');

/** An entry about the policy of this number, as many milliseconds after the start of 2026. */
export function auditContent(number: number, change: Partial<AuditContent> = {}): AuditContent {
  return {
    time: new Date(start + number).toISOString(),
    action: 'policy.update',
    outcome: 'accepted',
    code: null,
    author: { kind: 'token', issuer: 'http://issuer.test', subject: `user-${number % 3}`, actors: [] },
    client: 'loopback',
    target: { type: 'policy', id: `policy-${number}` },
    operationId: null,
    traceId: null,
    before: null,
    after: null,
    count: 1,
    since: null,
    ...change,
  };
}
