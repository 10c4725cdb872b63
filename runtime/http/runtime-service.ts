import type { IncomingMessage, ServerResponse } from 'node:http';
import { createSemaphore, type Semaphore } from '#kit/concurrency/semaphore';
import type { TokenFile } from '#kit/http/token-file';
import type { Logger } from '#kit/log/logger';
import type { Metrics } from '#kit/metrics/metrics';
import type { Clock } from '#kit/time/clock';
import type { LoadedBundle } from '../bundle/loaded-bundle.ts';
import type { CheckMeter, CheckPorts } from '../check/ports.ts';

/** Bodies that may be read at once, as a multiple of maxConcurrency (DESIGN section 7). */
const bodiesPerSlot = 4;

/** The loaded bundle with its slots: there is no queue, who finds none free is refused (document 1, section 1). */
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

/** What the operations of the runtime share. */
export type RuntimeService = {
  /** Undefined until the bundle is loaded; then the same for the life of the process. */
  readonly served: () => ServedBundle | undefined;
  readonly tokens: Pick<TokenFile, 'accepts'>;
  readonly clock: Clock;
  readonly ports: CheckPorts;
  readonly meter: CheckMeter;
  readonly metrics: Pick<Metrics, 'exposition' | 'contentType'>;
  readonly logger: Logger;
};

/** Node's request and answer. */
export type Exchange = { readonly incoming: IncomingMessage; readonly outgoing: ServerResponse };

/** One operation of the interface (document 1, section 4): its path, its methods and how it is answered. */
export type Operation = {
  readonly path: string;
  readonly methods: readonly string[];
  /** Sends the whole answer, errors too, unless the caller is gone. */
  readonly answer: (exchange: Exchange, service: RuntimeService) => void | Promise<void>;
};
