import type { ReplyPart } from '#contracts/a2a-reply';
import type { JsonValue } from '#kit/json/json-value';
import type { CliError } from '../errors/cli-error.ts';
import { codedError } from './agent-refusal.ts';

/** The parts of a reply that arrived. The reply is complete only if `fault` is absent. */
export type AgentReply = {
  readonly text?: string;
  readonly data?: JsonValue;
  /** Names of the files that the agent sent; their content is not read. */
  readonly files?: readonly string[];
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
    case 'file':
      return { ...reply, files: [...(reply.files ?? []), part.name] };
    case 'asked':
      return { ...reply, inputRequired: true };
    case 'failed':
      return { ...reply, fault: codedError(part.code, part.message) };
    case 'artifact':
    case 'ended':
      return reply;
  }
}

/** The reply for a person: its text or else its data, and a line for each file. */
export function replyText({ text, data, files = [] }: Pick<AgentReply, 'text' | 'data' | 'files'>): string {
  const said = text ?? (data === undefined ? undefined : JSON.stringify(data, undefined, 2));
  return [...(said === undefined ? [] : [said]), ...files.map(sentFileText)].join('\n');
}

/** The text that a person gets about a file of a reply. */
export function sentFileText(name: string): string {
  return `The agent sent a file: ${name}`;
}
