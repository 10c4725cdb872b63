import { isReplyEnd, readReply } from '#contracts/a2a-reply';
import { eventData } from '#kit/http/event-data';
import { codedError } from './agent-refusal.ts';
import { type AgentReply, withPart } from './collect-reply.ts';

type Listeners = {
  /** Called once, before any text. */
  readonly onTask: (id: string) => void;
  /** Called with each piece of text, in order. */
  readonly onText: (text: string) => void;
};

/** Reads the events of one message until the end of its reply. An early end or a broken connection is a fault. */
export async function readTaskEvents(
  bytes: AsyncIterable<Uint8Array>,
  { onTask, onText }: Listeners,
): Promise<AgentReply> {
  let reply: AgentReply = {};
  try {
    for await (const text of eventData(bytes)) {
      for (const part of readReply(JSON.parse(text))) {
        reply = withPart(reply, part);
        if (part.kind === 'begun' && part.taskId !== undefined) onTask(part.taskId);
        if (part.kind === 'text') onText(part.text);
        if (isReplyEnd(part)) return reply;
      }
    }
  } catch {
    return { ...reply, fault: codedError('upstream_error', 'The connection broke, or an event could not be read.') };
  }
  return { ...reply, fault: codedError('upstream_error', 'The stream ended before the task.') };
}
