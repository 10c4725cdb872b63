import type { TraceContext } from '../http/trace-context.ts';

/** An ended span. Its names and values come from the program and from resources, never from a text of a user. */
export type Span = {
  readonly context: TraceContext;
  readonly name: string;
  readonly kind: SpanKind;
  /** Start of the span, milliseconds since 1970, with fractions. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: SpanAttributes;
  readonly failed: boolean;
};

/** `server`: a request that was answered; `client`: a request that was sent; `internal`: work without a request. */
export type SpanKind = 'server' | 'client' | 'internal';
/** A member that is undefined is left out. */
export type SpanAttributes = Readonly<Record<string, string | number | undefined>>;

export type SpanEnd = { readonly attributes: SpanAttributes; readonly failed: boolean };

/** Takes the spans of a process. */
export type Spans = {
  /** Whether traces that begin in this process are recorded. */
  readonly isRecording: boolean;
  /**
   * Begins a span; calling the result ends it and records it. A span of a trace that is not sampled is not recorded.
   */
  begin(context: TraceContext, what: { readonly name: string; readonly kind: SpanKind }): (end: SpanEnd) => void;
};

/** Spans that are never recorded. */
export const noSpans: Spans = { isRecording: false, begin: () => () => undefined };
