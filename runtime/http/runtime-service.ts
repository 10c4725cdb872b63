import type { IncomingMessage, ServerResponse } from 'node:http';
import { createSemaphore, type Semaphore } from '#kit/concurrency/semaphore';
import type { TokenFile } from '#kit/http/token-file';
import type { Logger } from '#kit/log/logger';
import type { Metrics } from '#kit/metrics/metrics';
import type { Clock } from '#kit/time/clock';
import type { Spans } from '#kit/trace/span';
import type { LoadedBundle } from '../bundle/loaded-bundle.ts';
import type { CheckMeter, CheckPorts } from '../check/ports.ts';

/** Bodies that may be read at once, as a multiple of maxConcurrency. */
const bodiesPerSlot = 4;

/**
 * The loaded bundle with its slots. There is no queue: a check without a free slot is refused
 * (`guardrail:concurrency:no-queue`).
 */
export type ServedBundle = {
  readonly bundle: LoadedBundle;
  readonly checks: Semaphore;
  readonly bodies: Semaphore;
};

export function serveBundle(bundle: LoadedBundle): ServedBundle {
  const { maxConcurrency } = bundle.limits;
  return {
    bundle,
    checks: createSemaphore(maxConcurrency),
    bodies: createSemaphore(bodiesPerSlot * maxConcurrency),
  };
}

/** Dependencies that the endpoints share. */
export type RuntimeService = {
  /** The loaded bundle; undefined until it is loaded, and then the same for the life of the process. */
  readonly served: () => ServedBundle | undefined;
  readonly tokens: Pick<TokenFile, 'accepts'>;
  readonly clock: Clock;
  readonly ports: CheckPorts;
  readonly meter: CheckMeter;
  /** Takes a span of each check. */
  readonly spans: Spans;
  readonly metrics: Pick<Metrics, 'exposition' | 'contentType'>;
  readonly logger: Logger;
};

/** One HTTP request and the Node response that answers it. */
export type HttpExchange = { readonly incoming: IncomingMessage; readonly outgoing: ServerResponse };

/** One endpoint of the runtime: its path, its methods and its handler. */
export type Endpoint = {
  readonly path: string;
  readonly methods: readonly string[];
  /** Sends the whole answer, including errors, unless the client has disconnected. */
  readonly answer: (exchange: HttpExchange, service: RuntimeService) => void | Promise<void>;
};
