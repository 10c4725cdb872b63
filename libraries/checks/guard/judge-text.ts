import type { Stage } from '#contracts/policy';
import type { CheckClient } from '../client.ts';
import type { GuardTarget } from './guard-target.ts';
import { judgeSlots } from './judge-slots.ts';

/** `too_large`: the policy cannot judge the text, also not later. */
type TextVerdict =
  | { readonly kind: 'pass' | 'mask'; readonly text: string }
  | { readonly kind: 'denied' | 'failed' | 'too_large' };

/**
 * Judges one text of any length. A text that is larger than one check is judged in parts, if the rules of the policy
 * allow that.
 */
export async function judgeText(
  checks: Pick<CheckClient, 'check'>,
  target: GuardTarget,
  stage: Stage,
  text: string,
  signal: AbortSignal,
): Promise<TextVerdict> {
  let judged = text;
  const replace = (masked: string): void => {
    judged = masked;
  };
  const kind = await judgeSlots(checks, target, stage, [{ text, replace }], signal);
  if (kind !== 'allowed') return { kind };
  return { kind: judged === text ? 'pass' : 'mask', text: judged };
}
