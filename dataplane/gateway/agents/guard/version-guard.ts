import { isLasting } from '#checks/check-outcome';
import type { CheckClient } from '#checks/client';
import type { GuardTarget } from '#checks/guard/guard-target';
import { judgeSlots, type TextSlot } from '#checks/guard/judge-slots';
import type { Stage } from '#contracts/policy';
import type { JsonValue } from '#kit/json/json-value';
import type { RoutedVersion, RouteGuardrail } from '#resources/agent-route';
import { AgentRefusal } from '../calls/agent-refusal.ts';
import { wireSlots } from './wire-slots.ts';

export type GuardParts = { readonly checks: Pick<CheckClient, 'check'> };

/**
 * The policy of one direction of an image. Its functions throw AgentRefusal guardrail_denied, guardrail_error, and
 * request_too_large or answer_refused for texts that the policy can never judge.
 */
export type StageGuard = {
  /** Whether streamed text may be judged in windows. */
  readonly judgesWindows: boolean;
  /** Judges all texts of a member of a message, and masks them in place. @throws AgentRefusal also for a message that cannot be judged */
  judge(holder: Record<string, JsonValue>, key: string): Promise<void>;
  judgeText(text: string): Promise<string>;
  judgeWindow(text: string): Promise<'pass' | 'mask'>;
};

/** The refusal of texts that the policy cannot judge, by their direction. */
const tooLarge = { request: 'request_too_large', response: 'answer_refused' } as const satisfies Record<Stage, string>;

/** The refusal of messages that cannot be judged at all. */
const unreadable = {
  opaque: { request: 'content_type_not_supported', response: 'answer_refused' },
  respelled: { request: 'invalid_request', response: 'answer_refused' },
} as const satisfies Record<string, Record<Stage, string>>;

/** The target of the checks of one direction. */
export function guardTarget(guardrail: RouteGuardrail, stage: Stage): GuardTarget | undefined {
  if (guardrail.mode === 'None') return undefined;
  const { addresses, policyId, policyRevision, digest, contentProfile, maxBodyBytes, maxMessages } = guardrail;
  const deadlineMs = guardrail.deadlineMs[stage];
  const check = { addresses, policyId, policyRevision, digest, contentProfile, maxBodyBytes, maxMessages, deadlineMs };
  if (stage === 'request') return { ...check, longTexts: guardrail.division === 'Pieces' ? 'pieces' : 'refused' };
  return { ...check, longTexts: guardrail.streaming === 'Windows' ? 'windows' : 'refused' };
}

/**
 * The guard with which the gateway judges texts of an image in one direction, if the image does not judge them itself.
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
    const verdict = await judgeSlots(checks, target as GuardTarget, stage, slots, signal);
    if (verdict === 'allowed') return;
    if (signal.aborted) throw signal.reason;
    if (verdict === 'denied') throw new AgentRefusal('guardrail_denied');
    throw new AgentRefusal(verdict === 'failed' ? 'guardrail_error' : tooLarge[stage]);
  }

  return {
    judgesWindows: guardrail.streaming === 'Windows',
    async judge(holder, key) {
      const slots = wireSlots(holder, key, target.longTexts);
      if (typeof slots === 'string') throw new AgentRefusal(unreadable[slots][stage]);
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
      const outcome = await checks.check(target, stage, [{ role, content: text }], { signal });
      if (outcome.kind === 'pass' || outcome.kind === 'mask') return outcome.kind;
      if (signal.aborted) throw signal.reason;
      if (outcome.kind === 'deny') throw new AgentRefusal('guardrail_denied');
      throw new AgentRefusal(isLasting(outcome) ? tooLarge[stage] : 'guardrail_error');
    },
  };
}
