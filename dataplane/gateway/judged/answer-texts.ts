import type { JudgedTextKind } from '#contracts/judged-texts';
import type { JsonNode } from '#kit/json/parse-tree';
import { reasoningKeys } from '../chat/known-keys.ts';
import type { ChatAnswer } from '../chat/read-chat-answer.ts';
import { isFixedKey } from './collect-texts.ts';
import { type Covered, collectorFor, type TextCollector } from './covered-texts.ts';
import { readAnswerPictures } from './picture-texts.ts';
import { readToolCalls } from './request-texts.ts';
import { isModeration, isService, isServiceValue } from './service-value.ts';

/** The places of an answer that have their own members. `message` is the delta in a stream. */
export type AnswerPlace = 'root' | 'choice' | 'message';

/**
 * Members that the API or its servers set, by their place; members of the same name at other places are text of an
 * author.
 */
const serviceMembers: Readonly<Record<AnswerPlace, ReadonlySet<string>>> = {
  // `obfuscation`: padding of a frame. api.openai.com adds it to each frame unless the client turns it off.
  root: new Set([...['id', 'object', 'created', 'model', 'system_fingerprint', 'service_tier'], 'obfuscation']),
  choice: new Set(['index', 'finish_reason']),
  message: new Set(['role']),
};

/** Members whose texts are read elsewhere: by the contract, or at the next place. */
const readMembers: Readonly<Record<AnswerPlace, ReadonlySet<string>>> = {
  root: new Set(['choices']),
  choice: new Set(['message', 'delta']),
  message: new Set(['content', 'refusal']),
};

/** Members in which providers return the reasoning of an answer. */
export const reasoningMembers: ReadonlySet<string> = new Set(reasoningKeys);

type AnswerMember = (JsonNode & { readonly kind: 'object' })['members'][number];

/**
 * Whether a member contains the name of the model, which the client receives as the alias of the binding. A key with
 * escapes is not recognized, so that its value is judged like other texts.
 */
export function isRenamedModel({ key, keyStart, keyEnd, value }: AnswerMember): boolean {
  return key === 'model' && keyEnd - keyStart === '"model"'.length && value.kind === 'string';
}

/** Whether a member of an answer contains no further text. */
export function isWithoutFurtherText(member: AnswerMember, place: AnswerPlace): boolean {
  const isRenamed = place === 'root' && isRenamedModel(member);
  const isUsage = place === 'root' && member.key === 'usage' && isServiceValue(member.value);
  const isModerated = place === 'root' && member.key === 'moderation' && isModeration(member.value);
  return (
    isRenamed ||
    isUsage ||
    isModerated ||
    readMembers[place].has(member.key) ||
    isService(member, serviceMembers[place])
  );
}

const role = 'assistant';

/**
 * The texts of a whole answer beyond content and refusal (docs/design/judged-texts.md): the texts of the kinds that
 * `judge` of the binding adds, and whether there is text of another kind.
 */
export function readAnswerTexts(answer: ChatAnswer, bytes: Uint8Array, judged: ReadonlySet<JudgedTextKind>): Covered {
  const collector = collectorFor(bytes, judged);
  for (const place of ['root', 'choice', 'message'] as const) {
    for (const one of answer[place].members) {
      const { key, value } = one;
      if (place === 'message' && key === 'content') readParts(value, collector);
      if (isWithoutFurtherText(one, place)) continue;
      if (key === 'tool_calls' || key === 'function_call') readToolCalls(value, key, role, collector);
      else if (reasoningMembers.has(key)) collector.take('reasoning', value, key, role, true);
      else {
        collector.takeDecoded('parameters', key, '', role);
        if (key === 'images') readAnswerPictures(key, value, role, collector);
        else collector.take('parameters', value, '', role, true);
      }
    }
  }
  return collector.covered();
}

/**
 * The members of a part of the content that are not further text: its type, and the texts that are judged as the
 * content.
 */
export function isOfContent(member: { readonly key: string; readonly value: JsonNode }): boolean {
  return contentMembers.has(member.key) || isService(member, partService);
}

const contentMembers: ReadonlySet<string> = new Set(['text', 'refusal']);
const partService: ReadonlySet<string> = new Set(['type']);

/** The further texts of a content that is a list of parts. */
function readParts(content: JsonNode, collector: TextCollector): void {
  for (const part of content.kind === 'array' ? content.items : []) {
    for (const one of part.kind === 'object' ? part.members : []) {
      if (isOfContent(one)) continue;
      const { key, value } = one;
      if (reasoningMembers.has(key)) collector.take('reasoning', value, key, role, true);
      else {
        if (!isFixedKey(key)) collector.takeDecoded('parameters', key, '', role);
        if (key === 'image_url') readAnswerPictures(key, value, role, collector);
        else collector.take('parameters', value, '', role, true);
      }
    }
  }
}
