import type { ReplicaDecision } from '#contracts/activity';
import { describeProviderProblem } from '#contracts/provider-causes';
import { tableOf } from '../output/write.ts';

/** Decisions as a table; `nameOf` returns the name of a policy for its id. */
export function activityTable(
  items: readonly ReplicaDecision[],
  nameOf: (policyId: string) => string,
  isWide: boolean,
): string {
  const header = ['TIME', 'MODEL', 'CLIENT', 'STAGE', 'OUTCOME', 'RULE', 'POLICY', 'REVISION', 'REQUEST'];
  const rows = items.map((one) => [
    one.time,
    one.model,
    one.client ?? '-',
    one.stage === 'none' ? '-' : one.stage,
    outcomeText(one),
    one.rule ?? '-',
    nameOf(one.policyId),
    one.revision,
    one.requestId,
    ...(isWide ? [one.replica] : []),
  ]);
  return tableOf([isWide ? [...header, 'REPLICA'] : header, ...rows]);
}

/** The outcome with the code of a failed check, and the provider that returned no judgement with the cause. */
function outcomeText({ outcome, code, provider }: ReplicaDecision): string {
  if (code === undefined) return outcome;
  return `${outcome} (${provider === undefined ? code : `${code}, ${provider.name}: ${provider.cause}`})`;
}

/** One sentence that names the rule that decided a request. */
export function decisionSentence(one: ReplicaDecision, policy: string): string {
  const place = `policy ${policy}, revision ${one.revision}, request ${one.requestId}`;
  const rule = one.rule === undefined ? 'no single rule decided' : `rule ${one.rule}`;
  switch (one.outcome) {
    case 'passed':
      return `passed: no rule stopped or masked the text (${place}).`;
    case 'masked':
      return `masked at the stage ${one.stage}: ${rule} (${place}).`;
    case 'denied':
      return `denied at the stage ${one.stage}: ${rule} (${place}).`;
    case 'check_failed':
      return `the check failed at the stage ${one.stage} with ${one.code ?? 'an unknown code'}: ${rule} (${place}).${providerText(one)}`;
  }
}

function providerText({ provider, rule }: ReplicaDecision): string {
  return provider === undefined ? '' : ` ${describeProviderProblem(provider.name, provider.cause, rule)}`;
}

/**
 * The reason why the decision about a request is not shown. A replica that does not answer may have made the decision.
 * @param missing one sentence for each replica whose decisions could not be read
 */
export function absentSentence(requestId: string | null, missing: readonly string[]): string {
  const request = `the request ${requestId ?? 'without an id'}`;
  if (missing.length === 0) return `no policy decided about ${request}.`;
  return `the decision about ${request} was not found. Decisions are missing: ${missing.join(' ')}`;
}
