import { JsonLogsSerializer } from '@opentelemetry/otlp-transformer';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { expect, test } from 'vitest';
import { type AuditEntry, auditGenesis } from '#contracts/audit';
import { auditContent } from '../../testing/audit-content.ts';
import { logsRequest } from './otlp-logs.ts';

const now = new Date('2026-01-02T00:00:00.123Z');

function entry(number: number, change: Parameters<typeof auditContent>[1] = {}): AuditEntry {
  return { chain: 'one', number, previous: auditGenesis, hash: 'a'.repeat(64), content: auditContent(number, change) };
}

test('OTLP log records have the same JSON as those of the OpenTelemetry serializer', () => {
  const sent = entry(7, {
    outcome: 'refused',
    code: 'permission_denied',
    operationId: 'operation-7',
    traceId: 'b'.repeat(32),
  });
  const record: Parameters<typeof JsonLogsSerializer.serializeRequest>[0][number] = {
    hrTime: [Date.parse('2026-01-01T00:00:00Z') / 1_000, 7_000_000],
    hrTimeObserved: [Date.parse('2026-01-02T00:00:00Z') / 1_000, 123_000_000],
    severityNumber: 13,
    severityText: 'WARN',
    eventName: 'portcullis.audit.policy.update',
    body: JSON.stringify(sent),
    attributes: {
      'portcullis.audit.chain': 'one',
      'portcullis.audit.number': 7,
      'portcullis.audit.action': 'policy.update',
      'portcullis.audit.outcome': 'refused',
      'portcullis.audit.code': 'permission_denied',
      'portcullis.audit.subject': 'user-1',
      'portcullis.audit.target': 'policy-7',
      'portcullis.audit.operation': 'operation-7',
      'portcullis.trace_id': 'b'.repeat(32),
    },
    resource: resourceFromAttributes({ 'service.name': 'portcullis-one' }),
    instrumentationScope: { name: 'portcullis.audit' },
    droppedAttributesCount: 0,
  };
  const official = JsonLogsSerializer.serializeRequest([record]);
  expect(logsRequest('one', [sent], now)).toEqual(JSON.parse(new TextDecoder().decode(official)));
});

test('a log record has no attribute without a value, and its severity follows its outcome', () => {
  const plain = entry(1, { author: { kind: 'unknown' }, target: null });
  const [first, second] = logsRequest('one', [plain, entry(2, { outcome: 'failed' })], now).resourceLogs[0].scopeLogs[0]
    .logRecords;
  expect(first?.attributes.map(({ key }) => key)).toEqual([
    'portcullis.audit.chain',
    'portcullis.audit.number',
    'portcullis.audit.action',
    'portcullis.audit.outcome',
  ]);
  expect([first?.severityText, second?.severityText]).toEqual(['INFO', 'WARN']);
});
