import type { Logger } from '#kit/log/logger';

type EndedRequest = {
  readonly operation: string;
  /** The code of the error of the request, or `none`. */
  readonly code: string;
  readonly seconds: number;
  readonly traceId: string;
};

type RequestLines = Disposable & {
  ended(request: EndedRequest): void;
  /** Whether the next refusal with this code in the window is only counted. */
  isFull(code: string): boolean;
};

/** How many lines of refusals with one code are written in a window, and the length of the window, milliseconds. */
export const sampledLines = { each: 20, windowMs: 10_000 } as const;

/**
 * Writes a log line for each request. Refusals that a client can cause at any rate are sampled, so that they do not
 * push other lines out of a log of limited size: after `each` lines of a code the further refusals are only counted,
 * and the count is written at the end of the window.
 * @param isSampled whether refusals with a code are sampled
 */
export function createRequestLines(logger: Logger, isSampled: (code: string) => boolean): RequestLines {
  const counts = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;

  function endWindow(): void {
    clearTimeout(timer);
    timer = undefined;
    for (const [code, count] of counts) {
      const omitted = count - sampledLines.each;
      if (omitted > 0) logger.info('requests_not_logged', { code, count: omitted });
    }
    counts.clear();
  }

  return {
    ended({ operation, code, seconds, traceId }) {
      if (isSampled(code)) {
        timer ??= setTimeout(endWindow, sampledLines.windowMs).unref();
        const count = (counts.get(code) ?? 0) + 1;
        counts.set(code, count);
        if (count > sampledLines.each) return;
      }
      logger.info('request_ended', { operation, code, traceId, durationMs: Math.round(seconds * 1_000) });
    },
    isFull: (code) => (counts.get(code) ?? 0) >= sampledLines.each,
    [Symbol.dispose]: endWindow,
  };
}
