import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { z } from 'zod';
import { operationSchema } from '#contracts/management';
import type { ApiAnswer } from './call-api.ts';
import type { ManagementApi } from './management-api.ts';

type Operation = z.infer<typeof operationSchema>;

/** How long a page waits for the end of a command, milliseconds; the command continues without it. */
const longestMs = 8_000;
const pauseMs = 150;

/** Sends a command and waits for its end. An answer with the state `pending` or `running` means that it continues. */
export async function runPolicyCommand(
  api: ManagementApi,
  path: string,
  command: { readonly method: 'POST' | 'PUT'; readonly body: unknown; readonly etag?: string | undefined },
): Promise<ApiAnswer<Operation>> {
  const { method, body, etag } = command;
  const headers = { 'idempotency-key': randomUUID(), ...(etag === undefined ? {} : { 'if-match': etag }) };
  let answer = await api.call(path, operationSchema, { method, body, headers });
  const until = performance.now() + longestMs;
  while (answer.kind === 'value' && !isFinal(answer.value) && performance.now() < until) {
    await pause(pauseMs);
    const next = await api.call(`/api/v1/operations/${answer.value.operationId}`, operationSchema);
    if (next.kind !== 'value') return next;
    answer = next;
  }
  return answer;
}

/** Applications end with the confirmation of every replica, which the overview shows. */
function isFinal({ state, kind }: Operation): boolean {
  return state === 'succeeded' || state === 'failed' || kind.startsWith('binding.');
}
