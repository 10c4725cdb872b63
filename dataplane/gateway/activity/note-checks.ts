import type { FailedProvider } from '#checks/check-outcome';
import type { CheckClient } from '#checks/client';
import type { DecisionRecord } from '#contracts/activity';
import type { Stage } from '#contracts/policy';
import type { OutcomeName } from '../metrics/outcomes.ts';
import type { RoutePin } from '../routes/pin-routes.ts';

/** The check that decided a request: the last check that did not pass. */
type DecidingCheck = {
  readonly stage: Stage;
  readonly rule: string | undefined;
  /** The detector or classifier that did not judge. */
  readonly provider: FailedProvider | undefined;
};

/** The check client of one request, which records the check that decided. No text is recorded. */
export type NotedChecks = Pick<CheckClient, 'check'> & { readonly deciding: () => DecidingCheck | undefined };

export function noteChecks(checks: Pick<CheckClient, 'check'>): NotedChecks {
  let deciding: DecidingCheck | undefined;
  return {
    async check(target, stage, messages, options) {
      const outcome = await checks.check(target, stage, messages, options);
      if (outcome.kind !== 'pass') {
        const provider = outcome.kind === 'failed' ? outcome.provider : undefined;
        deciding = { stage, rule: outcome.rule, provider };
      }
      return outcome;
    },
    deciding: () => deciding,
  };
}

/** The facts of a request that ended. */
type EndedRequest = {
  readonly requestId: string;
  readonly time: Date;
  readonly client: string | undefined;
  readonly pin: RoutePin | undefined;
  readonly outcome: OutcomeName;
  readonly code: string | undefined;
  readonly deciding: DecidingCheck | undefined;
};

/** The outcomes that are decisions of a policy. An answer that is too long has no verdict, as after a failed check. */
const decisions: Readonly<Partial<Record<OutcomeName, DecisionRecord['outcome']>>> = {
  passed: 'passed',
  masked: 'masked',
  denied: 'denied',
  check_failed: 'check_failed',
  answer_too_long: 'check_failed',
};

/**
 * The record of a request; undefined if no policy decided: the model is unguarded or unknown, the request was refused
 * before its checks, or the provider failed.
 */
export function decisionRecordOf(ended: EndedRequest): DecisionRecord | undefined {
  const { requestId, time, client, pin, outcome, code, deciding } = ended;
  const guardrail = pin?.route.spec.guardrail;
  if (pin === undefined || guardrail?.mode !== 'Policy') return undefined;
  const decision = decisions[outcome];
  if (decision === undefined) return undefined;
  return {
    time: time.toISOString(),
    requestId,
    model: pin.route.spec.alias,
    ...(client === undefined ? {} : { client }),
    outcome: decision,
    stage: deciding?.stage ?? 'none',
    ...(decision === 'check_failed' && code !== undefined ? { code } : {}),
    ...(deciding?.rule === undefined ? {} : { rule: deciding.rule }),
    ...(decision === 'check_failed' && deciding?.provider !== undefined ? { provider: deciding.provider } : {}),
    policyId: guardrail.policyId,
    revision: guardrail.policyRevision,
  };
}
