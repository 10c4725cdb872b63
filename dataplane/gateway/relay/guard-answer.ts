import type { CheckTarget } from '#checks/check-target';
import type { CheckClient } from '#checks/client';
import { type JsonNode, member } from '#kit/json/parse-tree';
import type { CheckUnit } from '../chat/check-unit.ts';
import { maskChatAnswer } from '../chat/mask-chat-answer.ts';
import { type ChatAnswer, readChatAnswer } from '../chat/read-chat-answer.ts';
import { maskEdits } from '../chat/rewrite-body.ts';
import { maxTexts } from '../chat/text-bounds.ts';
import { readAnswerTexts, reasoningMembers } from '../judged/answer-texts.ts';
import type { Covered } from '../judged/covered-texts.ts';
import { escapedTexts } from '../judged/escaped-texts.ts';
import { isContractOnly } from '../judged/route-coverage.ts';
import { type ClientError, plainError, unreadableMask } from './client-error.ts';
import { type AnswerVerdict, judgeAgain, judgeWholeTexts, type WholeAnswer } from './judge-whole-texts.ts';
import { settleMasks } from './settle-masks.ts';

type TextField = 'content' | 'refusal';

const role = 'assistant';

/**
 * Judges a whole provider answer: content and refusal are in one check; a member without text is left out. Texts of the
 * kinds that `judge` of the binding adds are in the same check if its limits allow that. An answer that passes is sent
 * byte for byte. Rejects only with the reason of the signal.
 */
export async function guardAnswer(
  checks: Pick<CheckClient, 'check'>,
  target: CheckTarget,
  answer: WholeAnswer,
  signal: AbortSignal,
): Promise<AnswerVerdict> {
  const held = await answer.tree.read(() => readWhole(answer), memoryOf);
  if (signal.aborted) throw signal.reason;
  if (held === undefined) return { kind: 'stop', error: plainError('overloaded'), stage: 'none' };
  if (held.value === undefined) return { kind: 'stop', error: plainError('upstream_invalid'), stage: 'none' };
  const { read, table, texts, others, unjudgedAt } = held.value;
  const { inWindows } = answer;
  const { judged, refuseUnjudged } = answer.coverage;
  if (refuseUnjudged && unjudgedAt !== undefined) {
    return { kind: 'stop', error: plainError('unjudged_answer'), stage: 'none' };
  }
  const verdict = await judgeWholeTexts(checks, target, { texts, further: others, inWindows }, signal);
  if (verdict.kind === 'stop') return stop(verdict.error);
  if (verdict.kind === 'pass') return { kind: 'pass', bytes: answer.bytes };
  const settled = await settleMasks([...texts, ...others], verdict.cleaned, (unit, content) =>
    judgeAgain(checks, target, { ...unit, content }, answer, signal),
  );
  if (settled.kind === 'stop') return stop(settled.error);
  const cleaned = settled.contents;
  const further = maskEdits(others, cleaned.slice(table.length));
  if (further.kind === 'mismatch') return stop({ kind: 'check_failed', code: 'mask_mismatch' });
  if (further.kind === 'unmaskable') return stop(plainError('policy_denied'));
  const byField = new Map(table.map(([field], position) => [field, cleaned[position]]));
  const masks = {
    content: byField.get('content') ?? read.content,
    refusal: byField.get('refusal') ?? read.refusal,
    edits: further.edits,
    judgedMembers: judged.has('reasoning') ? reasoningMembers : noMembers,
  };
  const bytes = maskChatAnswer(answer.bytes, read, masks, answer.structured);
  return bytes === undefined ? stop({ kind: 'check_failed', code: unreadableMask }) : { kind: 'mask', bytes };
}

type ReadAnswer = {
  readonly read: ChatAnswer;
  readonly table: readonly (readonly [TextField, string])[];
  /** The texts of the table. */
  readonly texts: readonly CheckUnit[];
  readonly others: readonly CheckUnit[];
  readonly unjudgedAt: string | undefined;
};

/** @returns undefined for an answer whose texts cannot be determined */
function readWhole({ bytes, coverage }: WholeAnswer): ReadAnswer | undefined {
  const read = readChatAnswer(bytes);
  if (read === undefined) return undefined;
  const { units, unjudgedAt } = isContractOnly(coverage) ? nothing : readAnswerTexts(read, bytes, coverage.judged);
  const table = textsOf(read);
  const texts = table.map(([field, content]) => unitOf(read.message, field, content));
  const others = [...units, ...texts.flatMap((unit) => escapedTexts(unit))];
  return { read, table, texts, others, unjudgedAt };
}

function memoryOf(answer: ReadAnswer | undefined): number {
  return answer === undefined ? 0 : answer.read.values + Math.min(maxTexts, answer.others.length);
}

const nothing: Covered = { units: [], unjudgedAt: undefined };
const noMembers: ReadonlySet<string> = new Set();

function stop(error: ClientError): AnswerVerdict {
  return { kind: 'stop', error, stage: 'response' };
}

/** A text with the place of its member, by which `maskChatAnswer` finds the member to which a mask belongs. */
function unitOf(message: JsonNode, field: TextField, content: string): CheckUnit {
  const node = member(message, field);
  if (node === undefined) return { role, content, place: { kind: 'absent' } };
  return { role, content, place: { kind: 'string', string: { start: node.start, end: node.end } } };
}

/** Maps the position of a check message to the field of the answer that it was read from. */
function textsOf(answer: ChatAnswer): readonly (readonly [TextField, string])[] {
  const fields = [
    ['content', answer.content ?? ''],
    ['refusal', answer.refusal ?? ''],
  ] as const;
  return fields.filter(([, text]) => text !== '');
}
