import type { AuditEntry, AuditOutcome } from '#contracts/audit';

type Value = { readonly stringValue: string } | { readonly intValue: number };
type Attribute = { readonly key: string; readonly value: Value };

type LogRecord = {
  readonly timeUnixNano: string;
  readonly observedTimeUnixNano: string;
  readonly severityNumber: number;
  readonly severityText: string;
  readonly eventName: string;
  readonly body: { readonly stringValue: string };
  readonly attributes: readonly Attribute[];
  readonly droppedAttributesCount: 0;
};

/** An ExportLogsServiceRequest in the JSON mapping of OTLP 1.x (opentelemetry-proto, logs/v1). */
type LogsRequest = {
  readonly resourceLogs: readonly [
    {
      readonly resource: { readonly attributes: readonly Attribute[]; readonly droppedAttributesCount: 0 };
      readonly scopeLogs: readonly [
        { readonly scope: { readonly name: string }; readonly logRecords: readonly LogRecord[] },
      ];
    },
  ];
};

/** Numbers and names of the log data model. */
const severities: Readonly<Record<AuditOutcome, { readonly number: number; readonly text: string }>> = {
  accepted: { number: 9, text: 'INFO' },
  succeeded: { number: 9, text: 'INFO' },
  observed: { number: 9, text: 'INFO' },
  refused: { number: 13, text: 'WARN' },
  failed: { number: 13, text: 'WARN' },
};

/**
 * Entries as log records: the body is the entry as `portcullis audit export` writes it, so that the chain can be proved
 * from the bodies; the attributes are the parts by which receivers select entries.
 * @param entries entries of one chain
 */
export function logsRequest(chain: string, entries: readonly AuditEntry[], now: Date): LogsRequest {
  return {
    resourceLogs: [
      {
        resource: { attributes: [text('service.name', `portcullis-${chain}`)], droppedAttributesCount: 0 },
        scopeLogs: [{ scope: { name: 'portcullis.audit' }, logRecords: entries.map((entry) => recordOf(entry, now)) }],
      },
    ],
  };
}

function recordOf(entry: AuditEntry, now: Date): LogRecord {
  const { time, action, outcome, code, author, target, operationId, traceId } = entry.content;
  const severity = severities[outcome];
  const optional = (key: string, value: string | null | undefined): readonly Attribute[] =>
    value === null || value === undefined ? [] : [text(key, value)];
  return {
    timeUnixNano: nanoseconds(new Date(time)),
    observedTimeUnixNano: nanoseconds(now),
    severityNumber: severity.number,
    severityText: severity.text,
    eventName: `portcullis.audit.${action}`,
    body: { stringValue: JSON.stringify(entry) },
    attributes: [
      text('portcullis.audit.chain', entry.chain),
      { key: 'portcullis.audit.number', value: { intValue: entry.number } },
      text('portcullis.audit.action', action),
      text('portcullis.audit.outcome', outcome),
      ...optional('portcullis.audit.code', code),
      ...optional('portcullis.audit.subject', author.kind === 'token' ? author.subject : undefined),
      ...optional('portcullis.audit.target', target?.id),
      ...optional('portcullis.audit.operation', operationId),
      ...optional('portcullis.trace_id', traceId),
    ],
    droppedAttributesCount: 0,
  };
}

function text(key: string, value: string): Attribute {
  return { key, value: { stringValue: value } };
}

/** 64-bit numbers are texts in the JSON mapping. */
function nanoseconds(time: Date): string {
  return `${BigInt(time.getTime()) * 1_000_000n}`;
}
