import type { PortCall } from '../engine/ports.ts';

/** The trace headers of a call of a run: the called service continues the span of the call. */
export function traceHeaders({ trace }: PortCall): Readonly<Record<string, string>> {
  return { traceparent: trace.traceparent };
}
