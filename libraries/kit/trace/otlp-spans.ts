import type { Span, SpanAttributes, SpanKind } from './span.ts';

type Value = { readonly stringValue: string } | { readonly intValue: number } | { readonly doubleValue: number };
type Attribute = { readonly key: string; readonly value: Value };

/** An ExportTraceServiceRequest in the JSON mapping of OTLP 1.x (opentelemetry-proto, trace/v1). */
type TracesRequest = {
  readonly resourceSpans: readonly [
    {
      readonly resource: { readonly attributes: readonly Attribute[]; readonly droppedAttributesCount: 0 };
      readonly scopeSpans: readonly [
        { readonly scope: { readonly name: string }; readonly spans: readonly OtlpSpan[] },
      ];
    },
  ];
};

type OtlpSpan = {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly Attribute[];
  readonly droppedAttributesCount: 0;
  readonly events: readonly never[];
  readonly droppedEventsCount: 0;
  readonly status: { readonly code: number };
  readonly links: readonly never[];
  readonly droppedLinksCount: 0;
  readonly flags: number;
};

const kinds: Readonly<Record<SpanKind, number>> = { internal: 1, server: 2, client: 3 };
/** Status codes of a span: unset and error. */
const statuses = { unset: 0, error: 2 } as const;
/** Flags of a sampled span that states whether its parent is remote, and the flag of a remote parent. */
const flags = { sampled: 0x101, remoteParent: 0x200 } as const;

/** Ended spans of one service as the body of a request to a collector. */
export function tracesRequest(service: string, spans: readonly Span[]): TracesRequest {
  return {
    resourceSpans: [
      {
        resource: { attributes: attributesOf({ 'service.name': service }), droppedAttributesCount: 0 },
        scopeSpans: [{ scope: { name: 'portcullis' }, spans: spans.map(spanOf) }],
      },
    ],
  };
}

function spanOf({ context, name, kind, startMs, endMs, attributes, failed }: Span): OtlpSpan {
  const { traceId, spanId, parentSpanId } = context;
  return {
    traceId,
    spanId,
    ...(parentSpanId === undefined ? {} : { parentSpanId }),
    name,
    kind: kinds[kind],
    startTimeUnixNano: nanoseconds(startMs),
    endTimeUnixNano: nanoseconds(endMs),
    attributes: attributesOf(attributes),
    droppedAttributesCount: 0,
    events: [],
    droppedEventsCount: 0,
    status: { code: failed ? statuses.error : statuses.unset },
    links: [],
    droppedLinksCount: 0,
    // Only a request that was answered has its parent in another process.
    flags: flags.sampled | (kind === 'server' && parentSpanId !== undefined ? flags.remoteParent : 0),
  };
}

function attributesOf(attributes: SpanAttributes): readonly Attribute[] {
  return Object.entries(attributes).flatMap(([key, value]): readonly Attribute[] => {
    if (value === undefined) return [];
    if (typeof value === 'string') return [{ key, value: { stringValue: value } }];
    return [{ key, value: Number.isInteger(value) ? { intValue: value } : { doubleValue: value } }];
  });
}

/** 64-bit numbers are texts in the JSON mapping. */
function nanoseconds(ms: number): string {
  const whole = Math.floor(ms);
  return `${BigInt(whole) * 1_000_000n + BigInt(Math.round((ms - whole) * 1_000_000))}`;
}
