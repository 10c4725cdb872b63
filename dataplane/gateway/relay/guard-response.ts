import type { CheckTarget } from '#checks/check-target';
import type { CheckClient } from '#checks/client';
import { splice } from '#kit/json/splice';
import type { CheckUnit } from '../chat/check-unit.ts';
import { maskEdits } from '../chat/rewrite-body.ts';
import { maxTexts } from '../chat/text-bounds.ts';
import { escapedTexts } from '../judged/escaped-texts.ts';
import { sentTexts } from '../judged/sent-texts.ts';
import { seamsOf } from '../responses/join-texts.ts';
import { parseAnswer, readResponsesAnswer } from '../responses/read-responses-answer.ts';
import { type ClientError, plainError, unreadableMask } from './client-error.ts';
import { type AnswerVerdict, judgeAgain, judgeWholeTexts, type WholeAnswer } from './judge-whole-texts.ts';
import { settleMasks } from './settle-masks.ts';

/**
 * Judges a whole answer of the Responses API: the texts and refusals of all its messages are one check. An answer that
 * passes is sent byte for byte. In a masked answer, members that can repeat the masked text are emptied
 * (docs/design/responses.md, "Masks"). Rejects only with the reason of the signal.
 */
export async function guardResponse(
  checks: Pick<CheckClient, 'check'>,
  target: CheckTarget,
  answer: WholeAnswer,
  signal: AbortSignal,
): Promise<AnswerVerdict> {
  const { inWindows } = answer;
  const { refuseUnjudged } = answer.coverage;
  const held = await answer.tree.read(() => readWhole(answer), memoryOf);
  if (signal.aborted) throw signal.reason;
  if (held === undefined) return { kind: 'stop', error: plainError('overloaded'), stage: 'none' };
  const { read, texts, further } = held.value;
  if (read === undefined) return { kind: 'stop', error: plainError('upstream_invalid'), stage: 'none' };
  if (read === 'failed') return { kind: 'stop', error: plainError('upstream_failed'), stage: 'none' };
  if (refuseUnjudged && read.further.unjudgedAt !== undefined) {
    return { kind: 'stop', error: plainError('unjudged_answer'), stage: 'none' };
  }
  const named = read.texts.map(({ path, unit }) => ({ path, text: unit.content }));
  const joined = { texts, further: [...further, ...seamsOf(named)], inWindows };
  const verdict = await judgeWholeTexts(checks, target, joined, signal);
  if (verdict.kind === 'stop') return stop(verdict.error);
  if (verdict.kind === 'pass') return { kind: 'pass', bytes: answer.bytes };
  const judged = [...texts, ...further];
  const settled = await settleMasks(judged, verdict.cleaned.slice(0, judged.length), (unit, content) =>
    judgeAgain(checks, target, { ...unit, content }, answer, signal),
  );
  if (settled.kind === 'stop') return stop(settled.error);
  const masks = maskEdits(judged, settled.contents);
  if (masks.kind === 'mismatch') return stop({ kind: 'check_failed', code: 'mask_mismatch' });
  if (masks.kind === 'unmaskable') return stop(plainError('policy_denied'));
  // A mask of a text also changes its joints, so that these are judged again.
  let position = 0;
  const cleaned = named.map(({ path, text }) => ({
    path,
    text: text === '' ? '' : (settled.contents[position++] ?? ''),
  }));
  const seams = seamsOf(cleaned);
  const again = await judgeWholeTexts(checks, target, { texts: [], further: seams, inWindows }, signal);
  if (again.kind === 'stop') return stop(again.error);
  const isChanged = again.kind === 'mask' && seams.some(({ content }, at) => content !== again.cleaned[at]);
  if (isChanged) return stop(plainError('policy_denied'));
  const breaksJson = texts.some(({ content }, index) => isJson(content) && !isJson(settled.contents[index] ?? ''));
  if (answer.structured && breaksJson) return stop({ kind: 'check_failed', code: unreadableMask });
  const emptied = read.repeats.map(({ start, end, empty }) => ({ start, end, replacement: Buffer.from(empty) }));
  const kept = masks.edits.filter((edit) => !emptied.some(({ start, end }) => edit.start >= start && edit.end <= end));
  return { kind: 'mask', bytes: splice(answer.bytes, [...kept, ...emptied]) };
}

type ReadResponse = {
  readonly read: ReturnType<typeof readResponsesAnswer>;
  /** The texts of the contract that are not empty. */
  readonly texts: readonly CheckUnit[];
  readonly further: readonly CheckUnit[];
  readonly values: number;
};

/** Reads an answer. After the call neither the tree of the answer nor the texts of the request are kept. */
function readWhole({ bytes, request, coverage }: WholeAnswer): ReadResponse {
  const parsed = parseAnswer(bytes);
  if (parsed === undefined) return { read: undefined, texts: [], further: [], values: 0 };
  const { root, values } = parsed;
  const read = readResponsesAnswer(root, bytes, { ...coverage, sent: sentTexts(request) });
  if (read === undefined || read === 'failed') return { read, texts: [], further: [], values };
  const texts = read.texts.map(({ unit }) => unit).filter(({ content }) => content !== '');
  const further = [...read.further.units, ...texts.flatMap((unit) => escapedTexts(unit))];
  return { read, texts, further, values };
}

function memoryOf({ texts, further, values }: ReadResponse): number {
  return values + Math.min(maxTexts, texts.length + further.length);
}

function stop(error: ClientError): AnswerVerdict {
  return { kind: 'stop', error, stage: 'response' };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
