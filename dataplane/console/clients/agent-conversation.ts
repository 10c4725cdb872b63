import { randomUUID } from 'node:crypto';
import { isReplyEnd, type ReplyPart, readReply, readReplyRefusal, saysNoStreams } from '#contracts/a2a-reply';
import { eventData } from '#kit/http/event-data';

type Turn = {
  /** The address of the agent at the gateway. */
  readonly agent: URL;
  /** The person. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** The context of an earlier turn; a new context when absent. */
  readonly contextId: string | undefined;
  /** The task that requested this message. */
  readonly taskId: string | undefined;
  /** Aborting this signal ends the turn and cancels the task. */
  readonly signal: AbortSignal;
};

const cancelMs = 2_000;

/**
 * Sends one message (A2A 1.0, `POST /message:stream`) and yields the parts of the reply as they arrive; an agent that
 * does not stream is called with `message:send`. The last part is `ended`, `asked` or `failed`. Never throws. A caller
 * that stops reading early cancels the task; an agent of a flow refuses the cancellation, and its task ends 30 s after
 * its last reader has left.
 */
export async function* converse(turn: Turn): AsyncGenerator<ReplyPart> {
  let taskId: string | undefined;
  let isOver = false;
  try {
    const response = await post(turn, 'message:stream', messageOf(turn));
    if (!response.ok || response.body === null) {
      const json: unknown = await response.json().catch(() => undefined);
      isOver = true;
      if (saysNoStreams(response.status, json)) yield* whole(turn);
      else yield { kind: 'failed', ...readReplyRefusal(response.status, json) };
      return;
    }
    for await (const data of eventData(response.body)) {
      for (const part of readReply(JSON.parse(data))) {
        if (part.kind === 'begun') taskId = part.taskId;
        isOver = isReplyEnd(part);
        yield part;
        if (isOver) return;
      }
    }
    yield broken;
  } catch {
    if (!turn.signal.aborted) yield broken;
  } finally {
    if (!isOver && taskId !== undefined) await cancel(turn, taskId);
  }
}

const broken: ReplyPart = {
  kind: 'failed',
  code: 'upstream_error',
  message: 'The answer ended before it was complete.',
};

/** The reply of an agent that does not stream. */
async function* whole(turn: Turn): AsyncGenerator<ReplyPart> {
  const response = await post(turn, 'message:send', messageOf(turn));
  const json: unknown = await response.json().catch(() => undefined);
  if (!response.ok) {
    yield { kind: 'failed', ...readReplyRefusal(response.status, json) };
    return;
  }
  const reply = readReply(json);
  yield* reply;
  if (!reply.some(isReplyEnd)) yield broken;
}

function messageOf({ text, contextId, taskId }: Turn): unknown {
  const message = { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text }] };
  const context = contextId === undefined ? {} : { contextId };
  return { message: { ...message, ...context, ...(taskId === undefined ? {} : { taskId }) } };
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
