import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { eventData } from '#kit/http/event-data';

/** The events of one turn, in order; the last one is `ended` or `failed`. */
export type TurnEvent =
  | { readonly kind: 'begun'; readonly contextId: string }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'data'; readonly json: string }
  | { readonly kind: 'ended' }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string };

type Turn = {
  /** The address of the agent at the gateway. */
  readonly agent: URL;
  /** The person. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** Context of an earlier turn; a new one when absent. */
  readonly contextId: string | undefined;
  /** Its abort ends the turn and cancels the task. */
  readonly signal: AbortSignal;
};

const partSchema = z.looseObject({ text: z.string().optional(), data: z.json().optional() });
const partsSchema = z.array(partSchema);
const eventSchema = z.looseObject({
  task: z.looseObject({ id: z.string(), contextId: z.string() }).optional(),
  artifactUpdate: z.looseObject({ artifact: z.looseObject({ parts: partsSchema }) }).optional(),
  statusUpdate: z
    .looseObject({
      status: z.looseObject({ state: z.string(), message: z.looseObject({ parts: partsSchema }).optional() }),
    })
    .optional(),
});
const answerSchema = z.looseObject({
  message: z.looseObject({ parts: partsSchema, contextId: z.string().optional() }),
});
const failureSchema = z.looseObject({ code: z.string(), message: z.string() });
const refusalSchema = z.looseObject({
  error: z.looseObject({
    message: z.string(),
    details: z.array(z.looseObject({ domain: z.string().optional(), reason: z.string().optional() })),
  }),
});

const openStates: ReadonlySet<string> = new Set(['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING']);
const cancelMs = 2_000;

/**
 * Sends one message (A2A 1.0, `POST /message:stream`) and gives the parts of the answer as they arrive; an agent that does not
 * stream is asked with `message:send`. Never throws. A turn that is left early cancels its task: an agent of a flow refuses
 * that, and its task ends 30 s after its last reader has left.
 */
export async function* converse(turn: Turn): AsyncGenerator<TurnEvent> {
  let taskId: string | undefined;
  let isOver = false;
  try {
    const response = await post(turn, 'message:stream', messageOf(turn));
    if (!response.ok || response.body === null) {
      const refused = refusalOf(response.status, await response.json().catch(() => undefined));
      isOver = true;
      if (refused.code === 'UnsupportedOperationError') yield* whole(turn);
      else yield refused;
      return;
    }
    for await (const data of eventData(response.body)) {
      const { task, artifactUpdate, statusUpdate } = eventSchema.parse(JSON.parse(data));
      if (task !== undefined) {
        taskId = task.id;
        yield { kind: 'begun', contextId: task.contextId };
      }
      yield* partsOf(artifactUpdate?.artifact.parts ?? []);
      if (statusUpdate === undefined || openStates.has(statusUpdate.status.state)) continue;
      isOver = true;
      yield endOf(statusUpdate.status);
      return;
    }
    yield broken;
  } catch {
    if (!turn.signal.aborted) yield broken;
  } finally {
    if (!isOver && taskId !== undefined) await cancel(turn, taskId);
  }
}

const broken: TurnEvent = {
  kind: 'failed',
  code: 'upstream_error',
  message: 'The answer ended before it was complete.',
};

/** The answer of an agent that does not stream. */
async function* whole(turn: Turn): AsyncGenerator<TurnEvent> {
  const response = await post(turn, 'message:send', messageOf(turn));
  const json: unknown = await response.json().catch(() => undefined);
  const read = answerSchema.safeParse(json);
  if (!response.ok || !read.success) {
    yield response.ok ? broken : refusalOf(response.status, json);
    return;
  }
  const { parts, contextId } = read.data.message;
  if (contextId !== undefined) yield { kind: 'begun', contextId };
  yield* partsOf(parts);
  yield { kind: 'ended' };
}

function messageOf({ text, contextId }: Turn): unknown {
  const message = { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text }] };
  return { message: { ...message, ...(contextId === undefined ? {} : { contextId }) } };
}

function post({ agent, headers, signal }: Turn, operation: string, body: unknown): Promise<Response> {
  return fetch(`${agent.href}/${operation}`, {
    method: 'POST',
    headers: { 'a2a-version': '1.0', 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    redirect: 'error',
    signal,
  });
}

async function cancel(turn: Turn, taskId: string): Promise<void> {
  const call = { ...turn, signal: AbortSignal.timeout(cancelMs) };
  await post(call, `tasks/${encodeURIComponent(taskId)}:cancel`, {}).catch(() => undefined);
}

function* partsOf(parts: z.output<typeof partsSchema>): Generator<TurnEvent> {
  for (const { text, data } of parts) {
    if (text !== undefined) yield { kind: 'text', text };
    if (data !== undefined) yield { kind: 'data', json: JSON.stringify(data, undefined, 2) };
  }
}

type Status = NonNullable<z.output<typeof eventSchema>['statusUpdate']>['status'];

/** The last message of a failed task has the stable code. */
function endOf({ state, message }: Status): TurnEvent {
  if (state === 'TASK_STATE_COMPLETED') return { kind: 'ended' };
  for (const { data } of message?.parts ?? []) {
    const read = failureSchema.safeParse(data);
    if (read.success) return { kind: 'failed', code: read.data.code, message: read.data.message };
  }
  return { kind: 'failed', code: state, message: 'The task did not complete.' };
}

function refusalOf(status: number, json: unknown): Extract<TurnEvent, { kind: 'failed' }> {
  const read = refusalSchema.safeParse(json);
  if (!read.success) return { kind: 'failed', code: String(status), message: '' };
  const { message, details } = read.data.error;
  const code = details.find(({ domain }) => domain === 'portcullis')?.reason ?? String(status);
  return { kind: 'failed', code, message };
}
