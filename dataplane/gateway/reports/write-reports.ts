import type { Logger } from '#kit/log/logger';
import { createBackoff } from '#kit/time/backoff';
import { type Clock, systemClock } from '#kit/time/clock';
import { wait } from '#kit/time/wait';
import { isKubeError } from '#kube/client/kube-error';
import type { GatewayReportSpec } from '#resources/gateway-report';
import { isNews } from './build-report.ts';
import type { ReportSink } from './ports.ts';

/** Debounce of report writes: all changes within this time are written together. */
const debounceMs = 50;
/**
 * A slow write means a large report or a busy server. The pause after a write grows with its duration, so that more
 * changes go into one report.
 */
const restPerWrite = 2;
const longestRestMs = 1_000;

type ReportWriter = AsyncDisposable & {
  /**
   * Notifies the writer that the content of the report may have changed. `routeChanged`: the watch delivered a change
   * of a route.
   */
  changed(routeChanged: boolean): void;
  /** Resolves when a report with `ready: true` has been written. */
  readonly readyWritten: Promise<void>;
};

/**
 * Writes the report of this replica when it changed, and retries until it is written. `build` is called just before each
 * write, so a retry never writes a stale report.
 */
export function writeReports(options: {
  readonly sink: ReportSink;
  readonly build: () => GatewayReportSpec;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  readonly clock?: Clock;
}): ReportWriter {
  const { sink, build, logger, clock = systemClock } = options;
  const stop = new AbortController();
  const ready = Promise.withResolvers<void>();
  const backoff = createBackoff({ firstMs: 250, maxMs: 10_000, resetAfterMs: 60_000, now: clock.now });
  let written: GatewayReportSpec | undefined;
  let dirty = false;
  let routeChanged = false;
  let wake = Promise.withResolvers<void>();

  async function writeNews(): Promise<void> {
    const afterRouteChange = routeChanged;
    dirty = false;
    routeChanged = false;
    const report = build();
    if (!isNews(report, written, afterRouteChange)) return;
    const since = clock.now();
    try {
      await sink.write(report);
      written = report;
      logger.info('report_written', { through: report.appliedThrough, ready: report.ready });
      if (report.ready) ready.resolve();
      await wait(Math.min(longestRestMs, restPerWrite * (clock.now() - since)), stop.signal);
    } catch (error) {
      dirty = true;
      routeChanged ||= afterRouteChange;
      logger.warn('report_failed', { code: isKubeError(error) ? error.code : 'unexpected' });
      await wait(backoff.next(), stop.signal);
    }
  }

  async function run(): Promise<void> {
    while (!stop.signal.aborted) {
      await wake.promise;
      await wait(debounceMs, stop.signal);
      wake = Promise.withResolvers<void>();
      while (dirty && !stop.signal.aborted) await writeNews();
    }
  }

  const running = run();
  return {
    changed(byRoute) {
      dirty = true;
      routeChanged ||= byRoute;
      wake.resolve();
    },
    readyWritten: ready.promise,
    async [Symbol.asyncDispose]() {
      stop.abort();
      wake.resolve();
      await running;
    },
  };
}
