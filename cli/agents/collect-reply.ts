import type { ReplyPart } from '#contracts/a2a-reply';
import type { JsonValue } from '#kit/json/json-value';
import type { CliError } from '../errors/cli-error.ts';
import { codedError } from './agent-refusal.ts';

/** The parts of a reply that arrived. The reply is complete only if `fault` is absent. */
export type AgentReply = {
  readonly text?: string;
  readonly data?: JsonValue;
  /** Calls with this context continue the conversation. */
  readonly contextId?: string;
  readonly taskId?: string;
  /** The text is a question: the next message belongs to the task `taskId`. */
  readonly inputRequired?: true;
  readonly fault?: CliError;
};

/** The reply with one more part. */
export function withPart(reply: AgentReply, part: ReplyPart): AgentReply {
  switch (part.kind) {
    case 'begun': {
      const { taskId, contextId } = part;
      return {
        ...reply,
        ...(taskId === undefined ? {} : { taskId }),
        ...(contextId === undefined ? {} : { contextId }),
      };
    }
    case 'text':
      return { ...reply, text: `${reply.text ?? ''}${part.text}` };
    case 'data':
      return { ...reply, data: part.data };
    case 'asked':
      return { ...reply, inputRequired: true };
    case 'failed':
      return { ...reply, fault: codedError(part.code, part.message) };
    case 'ended':
      return reply;
  }
}
