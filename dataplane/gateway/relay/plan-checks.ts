import { batchMessages, checksSize } from '#checks/batch-messages';
import type { CheckTarget } from '#checks/check-target';
import type { Stage } from '#contracts/policy';
import type { CheckUnit } from '../chat/check-unit.ts';

type Plan = {
  /** The texts of the contract, which are judged together unless `split` is set, and the seams between their parts. */
  readonly texts: readonly CheckUnit[];
  /** Texts of the kinds that `judge` of the binding adds. Each can be checked alone. */
  readonly further: readonly CheckUnit[];
  readonly limits: Pick<CheckTarget, 'maxMessages' | 'maxBodyBytes'>;
  /** Whether a conversation over the limits of one check is judged in groups of whole messages. */
  readonly split: boolean;
};

/**
 * Distributes texts over as few checks as the limits allow (docs/design/judged-texts.md, "Checks"). Messages without text,
 * such as those that only call tools, are left out of a conversation that has more messages than a check.
 */
export function planChecks(stage: Stage, plan: Plan): readonly (readonly CheckUnit[])[] {
  const { limits, split } = plan;
  const seams = plan.texts.filter(isSeam);
  const texts = seams.length === 0 ? plan.texts : plan.texts.filter((unit) => !isSeam(unit));
  const further = [...seams, ...plan.further];
  const counted = split || texts.length > limits.maxMessages ? withText(texts) : texts;
  if (further.length === 0 && !split) return counted.length === 0 ? [] : [counted];
  const all = [...counted, ...further];
  if (all.length === 0) return [];
  const { messages, bytes } = checksSize(all, stage);
  if (messages <= limits.maxMessages && bytes <= limits.maxBodyBytes) return [all];
  if (split) return batchMessages(all, limits, stage);
  return [...(counted.length === 0 ? [] : [counted]), ...batchMessages(further, limits, stage)];
}

/** The texts that are not empty; if every text is empty, all of them, because the request is checked in any case. */
function withText(texts: readonly CheckUnit[]): readonly CheckUnit[] {
  const found = texts.filter(({ content }) => content !== '');
  return found.length === 0 ? texts : found;
}

/** Whether a text consists of the characters around a place where two parts of a message are joined. */
export function isSeam({ place }: CheckUnit): boolean {
  return place.kind === 'seam' || place.kind === 'joint';
}
