import type { RoutedVersion } from '#resources/agent-route';
import type { AgentOperation } from '../calls/parse-call.ts';
import type { ProcessAnswer } from './agent-client.ts';
import type { PipeEnd } from './pipe-answer.ts';

/** How long a process continues a run whose answer no client reads, milliseconds. */
export const unwatchedMs = 30_000;

/** An answer of an image that was not read to its end. After another status than one of success there is no run. */
export function isUnread({ status, body }: Extract<ProcessAnswer, { readonly kind: 'answer' }>): boolean {
  return status < 300 && !body.readableEnded;
}

/**
 * How long a run counts after the end of its answer, milliseconds. The process continues the run of a stream for a while, in case its
 * client comes back, and an image may do so with every run. The process of a flow ends the stream of a client that reads too slowly with
 * an error. Then the run continues until its end, which the gateway does not learn, so that no client frees its place in this way. An
 * answer that broke off without an error has no run left, because the process was killed, or one that the process ends soon, because it
 * has no reader.
 */
export function continuedAfter(
  end: PipeEnd,
  { operation, version }: { readonly operation: AgentOperation; readonly version: RoutedVersion },
  answer: Extract<ProcessAnswer, { readonly kind: 'answer' }>,
): number {
  const isStream = operation.name === 'message:stream';
  if (end.kind === 'broken') return isStream && end.saysWhy && version.sdk === undefined ? version.limits.timeoutMs : 0;
  if (end.kind === 'whole') return 0;
  return isStream || (version.sdk !== undefined && isUnread(answer)) ? unwatchedMs : 0;
}
