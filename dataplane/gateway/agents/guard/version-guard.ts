import type { CheckTarget } from '#checks/check-target';
import type { CheckClient } from '#checks/client';
import { judgeSlots, type TextSlot } from '#checks/guard/judge-slots';
import type { Stage } from '#contracts/policy';
import type { JsonValue } from '#kit/json/json-value';
import type { RoutedVersion, RouteGuardrail } from '#resources/agent-route';
import { AgentRefusal } from '../calls/agent-refusal.ts';
import { wireSlots } from './wire-slots.ts';

export type GuardParts = { readonly checks: Pick<CheckClient, 'check'> };

/** The policy of one direction of an image. Both functions throw AgentRefusal guardrail_denied or guardrail_error. */
export type StageGuard = {
  /** Whether streamed text may be judged in windows. */
  readonly judgesWindows: boolean;
  /** Judges all texts of a member of a message, and masks them in place. @throws AgentRefusal also for opaque content */
  judge(holder: Record<string, JsonValue>, key: string): Promise<void>;
  judgeText(text: string): Promise<string>;
  judgeWindow(text: string): Promise<'pass' | 'mask'>;
};

/** The target of the checks of one direction. */
export function guardTarget(guardrail: RouteGuardrail, stage: Stage): CheckTarget | undefined {
  if (guardrail.mode === 'None') return undefined;
  const { addresses, policyId, policyRevision, digest, contentProfile, maxBodyBytes, maxMessages } = guardrail;
  const deadlineMs = guardrail.deadlineMs[stage];
  return { addresses, policyId, policyRevision, digest, contentProfile, maxBodyBytes, maxMessages, deadlineMs };
}

/**
 * How the gateway judges texts of an image in one direction, which the image does not do itself.
 * @returns undefined if the texts are declared unguarded, or if the version judges them itself
 */
export function stageGuard(
  { checks }: GuardParts,
  { guardrails }: Pick<RoutedVersion, 'guardrails'>,
  stage: Stage,
  signal: AbortSignal,
): StageGuard | undefined {
  const guardrail = stage === 'request' ? guardrails?.input : guardrails?.output;
  if (guardrail === undefined || guardrail.mode === 'None') return undefined;
  const target = guardTarget(guardrail, stage);
  if (target === undefined) return undefined;

  async function judgeAll(slots: readonly TextSlot[]): Promise<void> {
    const verdict = await judgeSlots(checks, target as CheckTarget, stage, slots, signal);
    if (verdict === 'allowed') return;
    if (signal.aborted) throw signal.reason;
    throw new AgentRefusal(verdict === 'denied' ? 'guardrail_denied' : 'guardrail_error');
  }

  return {
    judgesWindows: guardrail.streaming === 'Windows',
    async judge(holder, key) {
      const slots = wireSlots(holder, key);
      if (slots === 'opaque') {
        throw new AgentRefusal(stage === 'request' ? 'content_type_not_supported' : 'answer_refused');
      }
      await judgeAll(slots);
    },
    async judgeText(text) {
      let judged = text;
      const replace = (masked: string): void => {
        judged = masked;
      };
      await judgeAll([{ text, replace }]);
      return judged;
    },
    async judgeWindow(text) {
      const role = stage === 'request' ? 'user' : 'assistant';
      const { kind } = await checks.check(target, stage, [{ role, content: text }], { signal });
      if (kind === 'pass' || kind === 'mask') return kind;
      if (signal.aborted) throw signal.reason;
      throw new AgentRefusal(kind === 'deny' ? 'guardrail_denied' : 'guardrail_error');
    },
  };
}
