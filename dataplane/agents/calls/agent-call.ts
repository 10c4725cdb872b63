import type { FlowResult } from '#flow/engine/run-events';
import type { Subject } from '#identity/identity';
import type { GrantedBudget } from '#identity/run-grant';
import type { McpExposure } from '#identity/workload-token';
import type { JsonValue } from '#kit/json/json-value';

/** The right of a run to request tokens from the gateway, and the budget of the run. */
export type CallGrant = { readonly token: string; readonly budget: GrantedBudget; readonly expiresAt: Date };

/**
 * The identity of the caller, from the gateway or, in development mode, from headers. The identity never depends on the
 * message.
 */
export type ExecutionIdentity = {
  readonly subject: Subject;
  /** The act chain; the direct caller is first. */
  readonly actors: readonly Subject[];
  readonly tenant: string | undefined;
  /** The callers that the version admits over MCP, according to the gateway; R1 in development mode. */
  readonly exposure: McpExposure;
  /** Verified; undefined in development mode. */
  readonly grant: CallGrant | undefined;
};

/** One part of a call, independent of the protocol (`agents:internal-model:not-canonical`). */
export type CallPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'data'; readonly data: JsonValue };

/** A protocol-neutral call: its parts, and the session in which they were sent. */
export type AgentCall = {
  readonly parts: readonly CallPart[];
  /** A2A contextId or MCP session. */
  readonly session: string;
};

/** A result that passed every check and may leave the process. */
export type CheckedResult = FlowResult & {
  readonly checked: true;
  /** The unsent last part of a text whose other parts were already sent; absent if no part was sent yet. */
  readonly rest?: string;
};

/** A key that is equal for all calls of one caller, for tables that belong to callers. */
export function callerKey({ subject, actors, tenant }: ExecutionIdentity): string {
  return JSON.stringify([tenant ?? '', [subject, ...actors].map(({ issuer, subject: name }) => [issuer, name])]);
}
