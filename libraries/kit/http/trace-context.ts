import { randomFillSync } from 'node:crypto';

/** The known fields of a traceparent, in lower-case hexadecimal; of the flags only `sampled` is known. */
type TraceParent = { readonly traceId: string; readonly parentId: string; readonly flags: '00' | '01' };

/** One span of a trace: a request, or work that belongs to a request. */
export type TraceContext = {
  readonly traceId: string;
  readonly spanId: string;
  /** Id of the parent span; undefined for the first span of a trace. */
  readonly parentSpanId: string | undefined;
  /** Whether spans of the trace are recorded. */
  readonly isSampled: boolean;
  /** Continues the trace below this span. */
  readonly traceparent: string;
};

/**
 * Version, trace id, parent id, flags, and members that later versions may add. Node joins repeated headers with a
 * comma.
 */
const form = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-[^,]*)?$/;

/**
 * Reads a traceparent of W3C Trace Context: version 00 exactly, of a later version the fields of version
 * 00. Version ff and a repeated header are invalid.
 */
export function readTraceParent(header: string | string[] | undefined): TraceParent | undefined {
  const found = typeof header === 'string' ? form.exec(header) : null;
  if (found === null) return undefined;
  const [, version, traceId = '', parentId = '', flags = '', added] = found;
  if (version === '00' && added !== undefined) return undefined;
  return { traceId, parentId, flags: Number.parseInt(flags, 16) % 2 === 1 ? '01' : '00' };
}

/** A traceparent of version 00, the only version that this program supports. */
export function writeTraceParent({ traceId, parentId, flags }: TraceParent): string {
  return `00-${traceId}-${parentId}-${flags}`;
}

/** The trace id of the client; a new trace id if the header is absent or invalid. */
export function traceIdOf(header: string | string[] | undefined): string {
  return readTraceParent(header)?.traceId ?? newTraceId();
}

/**
 * Continues the trace of the client; starts a new trace if the header is absent or invalid.
 * @param isRecording whether spans of a new trace are recorded; for a trace of the client its flag decides
 */
export function openTrace(header: string | string[] | undefined, isRecording = false): TraceContext {
  const read = readTraceParent(header);
  if (read === undefined) return startTrace(newTraceId(), isRecording);
  return spanOf({ traceId: read.traceId, isSampled: read.flags === '01' }, newSpanId(), read.parentId);
}

/** The first span of a trace. */
export function startTrace(traceId: string, isSampled: boolean): TraceContext {
  return spanOf({ traceId, isSampled }, newSpanId(), undefined);
}

/** A new span whose parent is another span. */
export function childSpan(parent: TraceContext, spanId: string = newSpanId()): TraceContext {
  return spanOf(parent, spanId, parent.spanId);
}

/** The traceparent of work that a stored request caused later; a new trace if the stored id is not a trace id. */
export function continueTrace(traceId: string): string {
  return openTrace(`00-${traceId}-${traceId.slice(-16)}-01`).traceparent;
}

function spanOf(
  { traceId, isSampled }: Pick<TraceContext, 'traceId' | 'isSampled'>,
  spanId: string,
  parentSpanId: string | undefined,
): TraceContext {
  const traceparent = writeTraceParent({ traceId, parentId: spanId, flags: isSampled ? '01' : '00' });
  return { traceId, spanId, parentSpanId, isSampled, traceparent };
}

function newTraceId(): string {
  return randomHex(16);
}

function newSpanId(): string {
  return randomHex(8);
}

/** Bytes of many ids: a call of the generator takes 2 us for 8 bytes, and a request needs several ids. */
const randomBytes = Buffer.alloc(2_048);
let used = randomBytes.length;

/** The given number of random bytes in lower-case hexadecimal; no random byte is used twice. */
function randomHex(bytes: number): string {
  if (used + bytes > randomBytes.length) {
    randomFillSync(randomBytes);
    used = 0;
  }
  used += bytes;
  return randomBytes.toString('hex', used - bytes, used);
}
