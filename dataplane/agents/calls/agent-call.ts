import type { FlowResult } from '#flow/engine/run-events';
import type { Subject } from '#identity/identity';
import type { JsonValue } from '#kit/json/json-value';

/** Who calls, as the gateway or, in development mode, a header says. Nothing of a message is part of it. */
export type ExecutionIdentity = {
  readonly subject: Subject;
  /** The act chain, the direct caller first. */
  readonly actors: readonly Subject[];
  readonly tenant: string | undefined;
};

/** One part of a call, free of every protocol (`agents:internal-model:not-canonical`). */
export type CallPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'data'; readonly data: JsonValue };

/** What a protocol hands over: parts, and the session in which they were sent. */
export type AgentCall = {
  readonly parts: readonly CallPart[];
  /** A2A contextId or MCP session. */
  readonly session: string;
};

/** A result that every check has passed, and may leave the process. */
export type CheckedResult = FlowResult & { readonly checked: true };

/** One value for the same caller, for tables that belong to callers. */
export function callerKey({ subject, actors, tenant }: ExecutionIdentity): string {
  return JSON.stringify([tenant ?? '', [subject, ...actors].map(({ issuer, subject: name }) => [issuer, name])]);
}
