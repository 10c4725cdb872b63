import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Metrics } from '#kit/metrics/metrics';
import { refusalReasons } from '../api-refusal.ts';

const verbs = ['GET', 'POST', 'PATCH', 'DELETE', 'other'] as const;
const codes = [...new Set(['200', '201', ...Object.values(refusalReasons).map(String), 'aborted'])];

/** Counts answers and measures how long they took; a watch is counted when it ends. */
export function measureRequests(metrics: Metrics): (incoming: IncomingMessage, outgoing: ServerResponse) => void {
  const requests = metrics.counter({
    name: 'portcullis_folder_api_requests_total',
    help: 'Answered requests of the resource API that standalone mode serves.',
    labels: { verb: verbs, code: codes },
  });
  const seconds = metrics.histogram({
    name: 'portcullis_folder_api_request_seconds',
    help: 'Time from the request to the end of its answer, without watches.',
    labels: { verb: verbs },
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
  });
  return (incoming, outgoing) => {
    const started = performance.now();
    const verb = verbs.find((one) => one === incoming.method) ?? 'other';
    const isWatch = /[?&]watch=(true|1)/.test(incoming.url ?? '');
    outgoing.once('close', () => {
      requests.add({ verb, code: outgoing.writableFinished ? String(outgoing.statusCode) : 'aborted' });
      if (!isWatch) seconds.observe({ verb }, (performance.now() - started) / 1000);
    });
  };
}
