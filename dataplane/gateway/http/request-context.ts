import type { IncomingMessage, ServerResponse } from 'node:http';
import type { CheckClient } from '#checks/client';
import type { ByteBudget, TakenBytes } from '#kit/http/byte-budget';
import type { TraceContext } from '#kit/http/trace-context';
import type { Logger } from '#kit/log/logger';
import type { Spans } from '#kit/trace/span';
import type { GatewayRouteSpec } from '#resources/gateway-route';
import type { ActivityLog } from '../activity/activity-log.ts';
import type { NotedChecks } from '../activity/note-checks.ts';
import type { RunBudgets } from '../agents/budgets/ports.ts';
import type { TokenUsage } from '../chat/read-usage.ts';
import type { AgentRun, ClientAdmission } from '../clients/admit-clients.ts';
import type { GatewayMetrics } from '../metrics/gateway-metrics.ts';
import type { ProviderWatch } from '../providers/watch-providers.ts';
import type { ClientError } from '../relay/client-error.ts';
import type { RequestLife } from '../relay/interruption.ts';
import type { RoutePin, RoutePins } from '../routes/pin-routes.ts';
import type { RouteTable } from '../routes/route-table.ts';
import type { UpstreamClient } from '../upstream/upstream-client.ts';

/** The configuration and clients that every HTTP operation of the gateway uses. */
export type Gateway = {
  readonly clients: ClientAdmission;
  readonly table: RouteTable;
  readonly pins: RoutePins;
  readonly checks: Pick<CheckClient, 'check'>;
  readonly upstream: UpstreamClient;
  readonly providers: Pick<ProviderWatch, 'note'>;
  /** Bytes of request bodies and of whole answers that all requests hold together. */
  readonly bytes: ByteBudget;
  readonly metrics: GatewayMetrics;
  readonly activity: ActivityLog;
  /** Budgets of the people for whom agents call models. */
  readonly budgets: Pick<RunBudgets, 'use'>;
  readonly spans: Spans;
  readonly logger: Logger;
  /** Longest duration of a request, milliseconds. */
  readonly maxRequestMs: number;
  /** Timeout for the body of a request, milliseconds. */
  readonly maxBodyMs: number;
  /** How long a client may read nothing of an answer before its connection is closed, milliseconds. */
  readonly clientIdleMs: number;
  /** Longest silence of an upstream within a stream, milliseconds. */
  readonly streamIdleMs: number;
  /** A signal that is aborted at the end of the shutdown, when requests in flight must end. */
  readonly shutdown: AbortSignal;
};

/** The stage whose check decided a request: `none` when the request ended without a decision of a check. */
type DecisionStage = 'none' | 'request' | 'response';

/** The result of an operation. The answer of a `streamed` result has already been sent. */
export type ClientResponse =
  | { readonly kind: 'error'; readonly error: ClientError; readonly stage: DecisionStage; readonly retryAfter?: string }
  | { readonly kind: 'json'; readonly bytes: Uint8Array | readonly Uint8Array[]; readonly masked: boolean }
  | {
      readonly kind: 'streamed';
      readonly error: ClientError | undefined;
      readonly stage: DecisionStage;
      readonly masked: boolean;
    };

/**
 * The context of one request. `held` is disposed when the operation ends; `unsent` is disposed when the client has
 * received the answer or disconnected.
 */
export type RequestContext = {
  readonly gateway: Gateway;
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly life: RequestLife;
  readonly held: DisposableStack;
  readonly unsent: DisposableStack;
  /** The bytes of the request and of its whole answer; `unsent` releases them. */
  readonly bytes: TakenBytes;
  /**
   * The id that the answer has in `x-request-id`: the id of the client if it is a UUID or 32 hexadecimal digits, else
   * an id that the gateway makes.
   */
  readonly requestId: string;
  /** The span of the request. */
  readonly trace: TraceContext;
  /** The checks of this request. */
  readonly checks: NotedChecks;
  /** The name of the client key or the id of the agent, once the client is known and if its key has a name. */
  client?: string | undefined;
  /** Tokens that the client may use in a day; undefined if its key does not limit them. */
  dailyTokens?: number | undefined;
  /** The agent and the person whose run calls; undefined for a client that is no agent. */
  run?: AgentRun | undefined;
  /** The tokens that the provider reported last for this request. */
  usage?: TokenUsage | undefined;
  /** The models that the key or token of the client names; undefined if the client may call all models. */
  aliases?: ReadonlySet<string> | undefined;
  /** The upstream that answered in the expected form, until its content was read. */
  answered?: GatewayRouteSpec['upstream'];
  /** The pinned route of the request; undefined until the model is known. */
  pin?: RoutePin;
};

export function errorResponse(
  error: ClientError,
  stage: DecisionStage = 'none',
): ClientResponse & { readonly kind: 'error' } {
  return { kind: 'error', error, stage };
}

/** The message that the pinned application sets for denied texts; undefined for the standard message. */
export function refusalTextOf(pin: RequestContext['pin']): string | undefined {
  const guardrail = pin?.route.spec.guardrail;
  return guardrail?.mode === 'Policy' ? guardrail.refusalText : undefined;
}
