import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { expect, test } from 'vitest';
import { childSpan, startTrace } from '../http/trace-context.ts';
import { tracesRequest } from './otlp-spans.ts';
import type { Span } from './span.ts';

const first = startTrace('4bf92f3577b34da6a3ce929d0e0e4736', true);

test.each([
  ['a first span of a request', 'server', first],
  ['a span of a request that another process sent', 'server', childSpan(first)],
  ['a span of a request that failed', 'client', childSpan(first)],
  ['a span of work', 'internal', childSpan(first)],
] as const)('%s has the same JSON as that of the OpenTelemetry serializer', (_what, kind, context) => {
  const failed = kind === 'client';
  const span: Span = {
    ...{ context, name: 'node prompt', kind, failed },
    startMs: 1_767_312_000_123,
    endMs: 1_767_312_001_123.25,
    attributes: { 'portcullis.code': 'ok', 'portcullis.node.attempts': 2, share: 0.5, absent: undefined },
  };
  const parent = context.parentSpanId;
  const official = JsonTraceSerializer.serializeRequest([
    {
      name: 'node prompt',
      kind: { internal: 0, server: 1, client: 2 }[kind],
      spanContext: () => ({ traceId: context.traceId, spanId: context.spanId, traceFlags: 1 }),
      ...(parent === undefined
        ? {}
        : {
            parentSpanContext: {
              ...{ traceId: context.traceId, spanId: parent, traceFlags: 1 },
              isRemote: kind === 'server',
            },
          }),
      startTime: [1_767_312_000, 123_000_000],
      endTime: [1_767_312_001, 123_250_000],
      status: { code: failed ? 2 : 0 },
      attributes: { 'portcullis.code': 'ok', 'portcullis.node.attempts': 2, share: 0.5 },
      links: [],
      events: [],
      duration: [1, 250_000],
      ended: true,
      resource: resourceFromAttributes({ 'service.name': 'portcullis-agent' }),
      instrumentationScope: { name: 'portcullis' },
      droppedAttributesCount: 0,
      droppedEventsCount: 0,
      droppedLinksCount: 0,
    },
  ]);
  expect(tracesRequest('portcullis-agent', [span])).toEqual(JSON.parse(new TextDecoder().decode(official)));
});
