import type { Stage } from '#contracts/policy';
import type { JsonValue } from '#kit/json/json-value';
import { batchMessages } from '../batch-messages.ts';
import type { CheckTarget } from '../check-target.ts';
import type { CheckClient } from '../client.ts';

/** One text of a JSON value. */
export type TextSlot = {
  readonly text: string;
  /** Replaces the text by its masked form; absent for names and numbers, which cannot be masked. */
  readonly replace?: (text: string) => void;
  /** Whether the texts that this one repeats read like its masked form already, so that it needs no replacement. */
  readonly accepts?: (masked: string) => boolean;
};

/** `allowed`: every text has passed or was replaced. `failed`: a check has no decision. */
type SlotsVerdict = 'allowed' | 'denied' | 'failed';

/**
 * Judges texts, each on its own, in as few checks as the limits of the policy allow, and replaces those that the policy
 * masks. A mask of a text that cannot be replaced denies all of them. After a verdict other than `allowed` no text may be used.
 */
export async function judgeSlots(
  checks: Pick<CheckClient, 'check'>,
  target: CheckTarget,
  stage: Stage,
  slots: readonly TextSlot[],
  signal: AbortSignal,
): Promise<SlotsVerdict> {
  const role = stage === 'request' ? 'user' : 'assistant';
  const messages = slots.filter(({ text }) => text !== '').map((slot) => ({ role, content: slot.text, slot }));
  for (const batch of batchMessages(messages, target, stage)) {
    const outcome = await checks.check(target, stage, batch, { signal });
    if (outcome.kind === 'failed') return 'failed';
    if (outcome.kind === 'deny') return 'denied';
    if (outcome.kind === 'pass') continue;
    for (const [at, { slot }] of batch.entries()) {
      const verdict = applyMask(slot, outcome.contents[at]);
      if (verdict !== 'allowed') return verdict;
    }
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
