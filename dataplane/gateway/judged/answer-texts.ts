import type { JudgedTextKind } from '#contracts/judged-texts';
import type { ChatAnswer } from '../chat/read-chat-answer.ts';
import { type Covered, collectorFor } from './covered-texts.ts';
import { readToolCalls } from './request-texts.ts';

/** Members that the API or its servers set, in the root, in a choice and in a message. */
export const serviceMembers: ReadonlySet<string> = new Set([
  'id',
  'object',
  'created',
  'model',
  'usage',
  'system_fingerprint',
  'service_tier',
  'choices',
  'index',
  'finish_reason',
  'message',
  'delta',
  'role',
  'content',
  'refusal',
]);

/** Members in which providers return the reasoning of an answer. */
export const reasoningMembers: ReadonlySet<string> = new Set([
  'reasoning',
  'reasoning_content',
  'reasoning_details',
  'thinking',
]);

const role = 'assistant';

/**
 * The texts of a whole answer beyond content and refusal (docs/design/judged-texts.md): units for the kinds that
 * `judge` of the binding adds, and whether there is text of another kind.
 */
export function readAnswerTexts(answer: ChatAnswer, bytes: Uint8Array, judged: ReadonlySet<JudgedTextKind>): Covered {
  const collector = collectorFor(bytes, judged);
  for (const node of [answer.root, answer.choice, answer.message]) {
    for (const { key, value } of node.members) {
      if (serviceMembers.has(key)) continue;
      if (key === 'tool_calls' || key === 'function_call') readToolCalls(value, key, role, collector);
      else if (reasoningMembers.has(key)) collector.take('reasoning', value, key, role, true);
      else {
        collector.takeDecoded('parameters', key, '', role);
        collector.take('parameters', value, '', role, true);
      }
    }
  }
  return collector.covered();
}
