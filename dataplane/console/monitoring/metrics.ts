import type { MiddlewareHandler } from 'hono';
import { createTlsMetrics, type TlsMetrics } from '#kit/http/observe-tls';
import { createMetrics, type Metrics } from '#kit/metrics/metrics';

export type ConsoleMetrics = {
  readonly registry: Metrics;
  readonly tls: TlsMetrics;
  /** Counts each request and its duration until the answer begins. */
  readonly measure: MiddlewareHandler;
};

const methods = ['GET', 'POST', 'PUT', 'DELETE'] as const;
const classes = ['2xx', '3xx', '4xx', '5xx'] as const;

export function createConsoleMetrics(): ConsoleMetrics {
  const registry = createMetrics({ service: 'console' });
  const requests = registry.counter({
    name: 'portcullis_console_requests_total',
    help: 'Answered requests by method and class of the status.',
    labels: { method: methods, status: classes },
  });
  const seconds = registry.histogram({
    name: 'portcullis_console_request_seconds',
    help: 'Time until an answer begins, seconds.',
    labels: {},
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  });
  return {
    registry,
    tls: createTlsMetrics(registry),
    async measure(context, next) {
      const begun = performance.now();
      await next();
      seconds.observe({}, (performance.now() - begun) / 1_000);
      const status = `${Math.floor(context.res.status / 100)}xx`;
      requests.add({
        method: methods.find((method) => method === context.req.method) ?? 'GET',
        status: classes.find((one) => one === status) ?? '5xx',
      });
    },
  };
}
