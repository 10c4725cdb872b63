import type { IncomingMessage, ServerResponse } from 'node:http';
import type { CheckClient } from '#checks/client';
import type { Logger } from '#kit/log/logger';
import type { ClientKeys } from '../clients/client-keys.ts';
import type { GatewayMetrics } from '../metrics/gateway-metrics.ts';
import type { ClientError } from '../relay/client-error.ts';
import type { RequestLife } from '../relay/interruption.ts';
import type { RoutePin, RoutePins } from '../routes/pin-routes.ts';
import type { RouteTable } from '../routes/route-table.ts';
import type { UpstreamClient } from '../upstream/upstream-client.ts';
import type { ByteBudget } from './byte-budget.ts';

/** What every operation works with. */
export type Gateway = {
  readonly keys: ClientKeys;
  readonly table: RouteTable;
  readonly pins: RoutePins;
  readonly checks: Pick<CheckClient, 'check'>;
  readonly upstream: UpstreamClient;
  readonly bodies: ByteBudget;
  readonly metrics: GatewayMetrics;
  readonly logger: Logger;
  /** Longest life of a request, milliseconds. */
  readonly maxRequestMs: number;
  /** The longest that the body of a request may take, milliseconds. */
  readonly maxBodyMs: number;
  /** The longest that a client may read nothing of an answer that waits for it, milliseconds. */
  readonly clientIdleMs: number;
  /** Longest silence of an upstream within a stream, milliseconds. */
  readonly streamIdleMs: number;
  /** Aborted when requests in flight have to end. */
  readonly shutdown: AbortSignal;
};

/** Where in its way a request stood when it was decided. */
export type DecisionStage = 'none' | 'request' | 'response';

/** What an operation came to. A `streamed` answer has left already. */
export type OperationResult =
  | { readonly kind: 'error'; readonly error: ClientError; readonly stage: DecisionStage; readonly retryAfter?: string }
  | { readonly kind: 'json'; readonly bytes: Uint8Array; readonly masked: boolean }
  | {
      readonly kind: 'streamed';
      readonly error: ClientError | undefined;
      readonly stage: DecisionStage;
      readonly masked: boolean;
    };

/** One request on its way. `use` holds things until the request is over. */
export type RequestContext = {
  readonly gateway: Gateway;
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly life: RequestLife;
  readonly held: DisposableStack;
  /** The route of the request, once it is known. */
  pin?: RoutePin;
};

export function failed(
  error: ClientError,
  stage: DecisionStage = 'none',
): OperationResult & { readonly kind: 'error' } {
  return { kind: 'error', error, stage };
}
