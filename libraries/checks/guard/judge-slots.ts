import type { Stage } from '#contracts/policy';
import type { JsonValue } from '#kit/json/json-value';
import { failedCheck, isLasting } from '../check-outcome.ts';
import type { CheckClient } from '../client.ts';
import type { GuardTarget } from './guard-target.ts';
import { type AskGuard, judgeTexts, leastChecks } from './judge-texts.ts';

/** One text of a JSON value. */
export type TextSlot = {
  readonly text: string;
  /** Replaces the text by its masked form; absent for names and numbers, which cannot be masked. */
  readonly replace?: (text: string) => void;
  /** Whether the texts that this text repeats already read like its masked form, so that it needs no replacement. */
  readonly accepts?: (masked: string) => boolean;
};

/**
 * `allowed`: every text has passed or was replaced. `failed`: a check has no decision. `too_large`: the texts need more
 * checks than one call may make, or this policy can never judge one of them.
 */
type SlotsVerdict = 'allowed' | 'denied' | 'failed' | 'too_large';

/**
 * Maximum number of checks for the texts, the same as for one request to a model, and including the checks that the
 * masks of long texts need.
 */
const most = { checks: 1_024, checksWithMasks: 4_096 } as const;

/**
 * Judges texts independently of each other, in as few checks as the limits of the policy allow, and replaces the texts
 * that the policy masks. A text that is larger than one check is judged in the way that `longTexts` of the target
 * defines. A mask of a text that cannot be replaced denies all texts. After a verdict other than `allowed` no text may
 * be used.
 */
export async function judgeSlots(
  checks: Pick<CheckClient, 'check'>,
  target: GuardTarget,
  stage: Stage,
  slots: readonly TextSlot[],
  signal: AbortSignal,
): Promise<SlotsVerdict> {
  const texts = slots.map(({ text }) => text);
  const { longTexts } = target;
  if (leastChecks(texts, target, { stage, longTexts }) > most.checks) return 'too_large';
  const role = stage === 'request' ? 'user' : 'assistant';
  let made = 0;
  const ask: AskGuard = async (contents) => {
    made += 1;
    if (made > most.checksWithMasks) return failedCheck('body_too_large');
    const messages = contents.map((content) => ({ role, content }));
    return await checks.check(target, stage, messages, { signal });
  };
  const judged = await judgeTexts(ask, texts, target, { stage, longTexts });
  switch (judged.kind) {
    case 'passed':
      return applyMasks(slots, judged.texts);
    case 'denied':
      return 'denied';
    case 'indivisible':
      return 'too_large';
    case 'failed':
      return isLasting(judged.check) ? 'too_large' : 'failed';
  }
}

/** The masks are applied in the order of the texts, because a text may repeat earlier ones. */
function applyMasks(slots: readonly TextSlot[], texts: readonly string[]): SlotsVerdict {
  for (const [at, slot] of slots.entries()) {
    const verdict = applyMask(slot, texts[at]);
    if (verdict !== 'allowed') return verdict;
  }
  return 'allowed';
}

function applyMask({ text, replace, accepts }: TextSlot, masked: string | undefined): SlotsVerdict {
  if (masked === undefined) return 'failed';
  if (masked === text) return 'allowed';
  if (replace === undefined) return accepts?.(masked) === true ? 'allowed' : 'denied';
  replace(masked);
  return 'allowed';
}

/** Every text below a member, in the order of the value. */
export function slotsOf(holder: Record<string, JsonValue> | JsonValue[], key: string | number): readonly TextSlot[] {
  const members = holder as Record<string | number, JsonValue>;
  const value = members[key];
  if (typeof value === 'string') {
    const replace = (text: string): void => {
      members[key] = text;
    };
    return [{ text: value, replace }];
  }
  if (typeof value === 'number') return [{ text: String(value) }];
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((_, index) => slotsOf(value, index));
  return Object.keys(value).flatMap((name) => [{ text: name }, ...slotsOf(value, name)]);
}
