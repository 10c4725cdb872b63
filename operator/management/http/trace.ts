import { randomBytes } from 'node:crypto';

/** W3C Trace Context, section 3.2: version 00, trace id, parent id, flags. */
const form = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-([0-9a-f]{2})$/;

/** The trace of a request, and the header by which an answer tells it. */
export type Trace = { readonly traceId: string; readonly traceparent: string };

/** The trace that the client is in; a new one where it says none that can be read. */
export function openTrace(header: string | string[] | undefined): Trace {
  const found = typeof header === 'string' ? form.exec(header) : null;
  const traceId = found?.[1] ?? randomBytes(16).toString('hex');
  return { traceId, traceparent: `00-${traceId}-${randomBytes(8).toString('hex')}-${found?.[2] ?? '00'}` };
}
