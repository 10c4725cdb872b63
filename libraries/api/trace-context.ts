import { randomBytes } from 'node:crypto';

/** Header traceparent of W3C Trace Context: version 00, trace id, parent id, flags. */
const form = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-([0-9a-f]{2})$/;

/** The trace of a request, and the header that the answer carries. */
export type TraceContext = { readonly traceId: string; readonly traceparent: string };

/** Continues the trace of the client; starts a new one where the header is absent or invalid. */
export function openTrace(header: string | string[] | undefined): TraceContext {
  const found = typeof header === 'string' ? form.exec(header) : null;
  const traceId = found?.[1] ?? randomBytes(16).toString('hex');
  return { traceId, traceparent: `00-${traceId}-${randomBytes(8).toString('hex')}-${found?.[2] ?? '00'}` };
}
