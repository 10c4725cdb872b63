import { batchMessages } from '#checks/batch-messages';
import type { CheckClient } from '#checks/client';
import type { AgentBundle } from '#contracts/agent-bundle';
import type { Stage } from '#contracts/policy';
import type { JsonValue } from '#kit/json/json-value';
import { AgentError } from '../calls/agent-error.ts';
import type { PolicyTargets } from './policy-targets.ts';

export type TextGuard = { readonly checks: Pick<CheckClient, 'check'>; readonly policies: PolicyTargets };

type Slot = {
  readonly text: string;
  /** Replaces the text by its masked form; absent for names and numbers, which cannot be masked. */
  readonly replace?: (text: string) => void;
};

/**
 * Judges every text of the values and returns the values that may be used: unchanged after a pass, masked after a mask.
 * Texts are judged independently, in as few checks as the limits of the policy allow. Names of members and numbers are
 * judged, too; a mask of one of them denies the values.
 * @throws AgentError guardrail_denied after a deny, guardrail_error if a check has no decision
 */
export async function guardTexts(
  { checks, policies }: TextGuard,
  guardrail: AgentBundle['guardrails']['input'],
  stage: Stage,
  values: readonly JsonValue[],
  signal: AbortSignal,
): Promise<readonly JsonValue[]> {
  if (guardrail === 'None') return values;
  const target = policies.target(guardrail.name, stage);
  if (target === undefined) throw new AgentError('guardrail_error');
  const copy = structuredClone(values) as JsonValue[];
  const slots = copy.flatMap((_, index) => slotsOf(copy, index)).filter(({ text }) => text !== '');
  const role = stage === 'request' ? 'user' : 'assistant';
  const messages = slots.map((slot) => ({ role, content: slot.text, slot }));
  for (const batch of batchMessages(messages, target)) {
    const outcome = await checks.check(target, stage, batch, { signal });
    switch (outcome.kind) {
      case 'pass':
        break;
      case 'mask':
        for (const [at, { slot }] of batch.entries()) applyMask(slot, outcome.contents[at]);
        break;
      case 'deny':
        throw new AgentError('guardrail_denied');
      case 'failed':
        throw new AgentError(signal.aborted ? 'cancelled' : 'guardrail_error');
    }
  }
  return copy;
}

/**
 * Judges one window of a text that is sent in parts (docs/design/streaming.md).
 * @throws AgentError guardrail_denied after a deny, guardrail_error if the check has no decision
 */
export async function judgeWindow(
  { checks, policies }: TextGuard,
  guardrail: AgentBundle['guardrails']['output'],
  text: string,
  signal: AbortSignal,
): Promise<'pass' | 'mask'> {
  if (guardrail === 'None') return 'pass';
  const target = policies.target(guardrail.name, 'response');
  if (target === undefined) throw new AgentError('guardrail_error');
  const outcome = await checks.check(target, 'response', [{ role: 'assistant', content: text }], { signal });
  switch (outcome.kind) {
    case 'pass':
    case 'mask':
      return outcome.kind;
    case 'deny':
      throw new AgentError('guardrail_denied');
    case 'failed':
      throw new AgentError(signal.aborted ? 'cancelled' : 'guardrail_error');
  }
}

function applyMask({ text, replace }: Slot, masked: string | undefined): void {
  if (masked === undefined) throw new AgentError('guardrail_error');
  if (masked === text) return;
  if (replace === undefined) throw new AgentError('guardrail_denied');
  replace(masked);
}

/** Every text below a member, in the order of the value. */
function slotsOf(holder: Record<string, JsonValue> | JsonValue[], key: string | number): readonly Slot[] {
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
