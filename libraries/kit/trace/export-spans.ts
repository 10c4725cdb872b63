import { request } from 'undici';
import { startWorkLoop } from '../concurrency/work-loop.ts';
import { openTokenFile, type TokenFile } from '../http/token-file.ts';
import type { Logger } from '../log/logger.ts';
import { type Clock, systemClock } from '../time/clock.ts';
import { tracesRequest } from './otlp-spans.ts';
import { noSpans, type Span, type Spans } from './span.ts';

/** The collector to which spans are sent. */
export type TraceExport = {
  /** Address of the traces of an OTLP/HTTP collector, usually with the path /v1/traces. */
  readonly url: URL;
  /** File of a bearer token; if undefined, no token is sent. */
  readonly tokenFile: string | undefined;
};

type ExportedSpans = Spans & AsyncDisposable;

/** Maximum number of waiting spans, number of spans in one request, and times in milliseconds. */
export const spanExportLimits = { waiting: 4_096, batch: 512, everyMs: 1_000, sendMs: 10_000, lastMs: 2_000 } as const;

type ExportOptions = { readonly service: string; readonly logger: Pick<Logger, 'warn'>; readonly clock?: Clock };

/**
 * The spans of a process, which are sent until the stack is disposed; without an address no spans are recorded.
 * @throws TokenFileError when the token cannot be read at the start
 */
export function openSpans(traces: TraceExport | undefined, parts: AsyncDisposableStack, options: ExportOptions): Spans {
  return traces === undefined ? noSpans : parts.use(exportSpans(traces, options));
}

/**
 * Sends the spans of a process to a collector with OTLP/HTTP and JSON, within a second after they have ended. No other
 * work waits for the sending: spans that find the queue full, and the spans of a failed request, are dropped, and a log
 * line states their number. Disposing sends the waiting spans.
 * @throws TokenFileError when the token cannot be read at the start
 */
export function exportSpans(
  { url, tokenFile }: TraceExport,
  { service, logger, clock = systemClock }: ExportOptions,
): ExportedSpans {
  const token = tokenFile === undefined ? undefined : openTokenFile(tokenFile, clock);
  const waiting: Span[] = [];
  let dropped = 0;

  async function sendNext(signal: AbortSignal): Promise<boolean> {
    const batch = waiting.splice(0, spanExportLimits.batch);
    const isSent = batch.length === 0 || (await post(url, token, tracesRequest(service, batch), signal));
    // A request that the shutdown has ended is repeated once: a collector identifies spans by their ids.
    if (!isSent && signal.aborted) waiting.unshift(...batch);
    else if (!isSent) dropped += batch.length;
    if (dropped > 0) logger.warn('spans_dropped', { spans: dropped });
    dropped = 0;
    return waiting.length > 0;
  }

  const loop = startWorkLoop(sendNext, { pollMs: spanExportLimits.everyMs });
  return {
    isRecording: true,
    begin(context, { name, kind }) {
      if (!context.isSampled) return () => undefined;
      const startMs = clock.date().getTime();
      const startedAt = clock.now();
      let hasEnded = false;
      return ({ attributes, failed }) => {
        if (hasEnded) return;
        hasEnded = true;
        if (waiting.length >= spanExportLimits.waiting) dropped += 1;
        else {
          const endMs = startMs + Math.max(0, clock.now() - startedAt);
          waiting.push({ context, name, kind, startMs, endMs, attributes, failed });
        }
      };
    },
    async [Symbol.asyncDispose]() {
      await loop[Symbol.asyncDispose]();
      const last = AbortSignal.timeout(spanExportLimits.lastMs);
      while (!last.aborted && (await sendNext(last)));
    },
  };
}

async function post(
  url: URL,
  token: Pick<TokenFile, 'first'> | undefined,
  body: unknown,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token.first()}` };
    const answer = await request(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...authorization },
      body: JSON.stringify(body),
      signal: AbortSignal.any([signal, AbortSignal.timeout(spanExportLimits.sendMs)]),
    });
    await answer.body.dump();
    return answer.statusCode >= 200 && answer.statusCode < 300;
  } catch {
    return false;
  }
}
