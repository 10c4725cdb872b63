import { isReplyEnd, type ReplyPart, readReply, withoutReplaced } from '#contracts/a2a-reply';
import { eventData } from '#kit/http/event-data';
import { codedError } from './agent-refusal.ts';
import { type AgentReply, sentFileText, withPart } from './collect-reply.ts';

type Listeners = {
  /** Called once, before any text. */
  readonly onTask: (id: string) => void;
  /**
   * Called with each piece of text, in order. A file, and a text that replaces an earlier text, begin on a new line.
   */
  readonly onText: (text: string) => void;
};

/**
 * Reads the events of one message until the end of its reply. An early end or a broken connection counts as a fault.
 */
export async function readTaskEvents(
  bytes: AsyncIterable<Uint8Array>,
  { onTask, onText }: Listeners,
): Promise<AgentReply> {
  let isLineBegun = false;
  const say = (text: string): void => {
    if (text !== '') isLineBegun = !text.endsWith('\n');
    onText(text);
  };
  const endLine = (): void => {
    if (isLineBegun) say('\n');
  };
  const parts: ReplyPart[] = [];
  const begun = new Set<string>();
  const collect = () => withoutReplaced(parts).reduce<AgentReply>(withPart, {});
  try {
    for await (const text of eventData(bytes)) {
      for (const part of readReply(JSON.parse(text))) {
        parts.push(part);
        if (part.kind === 'begun' && part.taskId !== undefined) onTask(part.taskId);
        if (part.kind === 'file' || (part.kind === 'artifact' && begun.has(part.artifactId))) endLine();
        if (part.kind === 'artifact') begun.add(part.artifactId);
        if (part.kind === 'text') say(part.text);
        if (part.kind === 'file') say(`${sentFileText(part.name)}\n`);
        if (isReplyEnd(part)) return collect();
      }
    }
  } catch {
    return {
      ...collect(),
      fault: codedError('upstream_error', 'The connection broke, or an event could not be read.'),
    };
  }
  return { ...collect(), fault: codedError('upstream_error', 'The stream ended before the task.') };
}
