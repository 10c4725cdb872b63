import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { z } from 'zod';
import { operationSchema } from '#contracts/management';
import type { ApiAnswer } from './call-api.ts';
import { isPassing } from './is-passing.ts';
import type { ManagementApi } from './management-api.ts';

type Operation = z.infer<typeof operationSchema>;

/** How long a page waits for the end of a command, milliseconds; afterwards the command continues in the background. */
const longestMs = 8_000;
const pauseMs = 150;
/** The pause after an answer that the API cannot give now, as beyond the limit of requests. */
const passingPauseMs = 1_000;

/** Sends a command and waits for its end. An answer with the state `pending` or `running` means that it continues. */
export async function runPolicyCommand(
  api: ManagementApi,
  path: string,
  command: {
    readonly method: 'POST' | 'PUT';
    readonly body: unknown;
    readonly etag?: string | undefined;
    /** The idempotency key of a form: a form that is sent twice is one command. When absent, a new key is made. */
    readonly key?: string | undefined;
  },
): Promise<ApiAnswer<Operation>> {
  const { method, body, etag, key = randomUUID() } = command;
  const headers = { 'idempotency-key': key, ...(etag === undefined ? {} : { 'if-match': etag }) };
  let answer = await api.call(path, operationSchema, { method, body, headers });
  const until = performance.now() + longestMs;
  let isPassed = false;
  while (answer.kind === 'value' && !isFinal(answer.value) && performance.now() < until) {
    await pause(isPassed ? passingPauseMs : pauseMs);
    const next = await api.call(`/api/v1/operations/${answer.value.operationId}`, operationSchema);
    // The command was accepted: it continues while the API does not answer about it.
    isPassed = isPassing(next);
    if (isPassed) continue;
    if (next.kind !== 'value') return next;
    answer = next;
  }
  return answer;
}

/** Applications end with the confirmation of every replica, which the overview shows. */
function isFinal({ state, kind }: Operation): boolean {
  return state === 'succeeded' || state === 'failed' || kind.startsWith('binding.');
}
