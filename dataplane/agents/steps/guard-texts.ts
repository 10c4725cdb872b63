import { isLasting } from '#checks/check-outcome';
import type { CheckClient } from '#checks/client';
import { judgeSlots, slotsOf } from '#checks/guard/judge-slots';
import type { AgentBundle } from '#contracts/agent-bundle';
import type { Stage } from '#contracts/policy';
import type { JsonValue } from '#kit/json/json-value';
import { AgentError } from '../calls/agent-error.ts';
import type { PolicyTargets } from './policy-targets.ts';

export type TextGuard = { readonly checks: Pick<CheckClient, 'check'>; readonly policies: PolicyTargets };

/**
 * Judges every text of the values and returns the values that may be used: unchanged after a pass, masked after a mask.
 * Texts are judged independently, in as few checks as the limits of the policy allow. A text that is larger than a
 * check is judged in parts, if the rules of the policy allow that. Names of members and numbers are judged, too; a mask
 * of a name or a number denies the values.
 * @throws AgentError guardrail_denied after a deny, guardrail_error if a check has no decision, and the code of
 * `tooLarge` for texts that the policy can never judge
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
  const slots = copy.flatMap((_, index) => slotsOf(copy, index));
  switch (await judgeSlots(checks, target, stage, slots, signal)) {
    case 'allowed':
      return copy;
    case 'denied':
      throw new AgentError('guardrail_denied');
    case 'failed':
      throw new AgentError(signal.aborted ? 'cancelled' : 'guardrail_error');
    case 'too_large':
      throw new AgentError(tooLarge[stage]);
  }
}

/** The error of texts that need more than the largest number of checks, or of a text that the policy cannot judge. */
const tooLarge = { request: 'request_too_large', response: 'output_invalid' } as const satisfies Record<Stage, string>;

/**
 * Judges one window of a text that is sent in parts (docs/design/streaming.md).
 * @throws AgentError guardrail_denied after a deny, guardrail_error if the check has no decision, output_invalid if a
 * check of this text can never have a decision
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
      if (isLasting(outcome)) throw new AgentError(tooLarge.response);
      throw new AgentError(signal.aborted ? 'cancelled' : 'guardrail_error');
  }
}
