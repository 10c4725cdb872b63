import type { CheckFailureCode } from '#contracts/checks';
import type { CompiledRule } from './compiled-section.ts';
import { type Denied, denied, type Failed, failed } from './decision.ts';

/** A finding of an engine pass: the rule at `place` matches in message number `text`, or could not be judged. */
export type BatchFinding =
  | { readonly place: number; readonly kind: 'match'; readonly text: number }
  | { readonly place: number; readonly kind: 'error'; readonly code: CheckFailureCode };

/** A rule that is counted as fired or failed, once per check. */
type Counted = { readonly rule: CompiledRule; readonly error?: CheckFailureCode };

export type BatchReading = {
  /** The first enforced deny or failure in the order of the rules; later rules count as not run. */
  readonly stop: Denied | Failed | undefined;
  /** Rules before this index were run. */
  readonly reached: number;
  readonly counted: readonly Counted[];
  /** Matches of enforced mask rules, by rule index and then by message. */
  readonly masked: readonly { readonly place: number; readonly text: number }[];
};

/**
 * Reads the findings of a batch as if its rules had run one after another (`guardrail:execution:deny-stops-later`): the
 * first enforced rule that denies or fails ends the check, and later rules count as neither matched nor failed. A rule
 * that failed for any message has failed, even if it matches in another message.
 */
export function readBatch(rules: readonly CompiledRule[], findings: readonly BatchFinding[], to: number): BatchReading {
  const sorted = [...findings].sort(inOrder);
  const counted: Counted[] = [];
  const masked: { place: number; text: number }[] = [];
  let previous = -1;
  for (const finding of sorted) {
    const rule = rules[finding.place];
    if (rule === undefined) throw new RangeError('a finding names a rule that its section does not contain');
    const first = finding.place !== previous;
    const failedBefore = !first && counted.at(-1)?.error !== undefined;
    previous = finding.place;
    if (first) counted.push(finding.kind === 'error' ? { rule, error: finding.code } : { rule });
    if (rule.mode === 'observe' || failedBefore) continue;
    if (finding.kind === 'error') {
      return { stop: failed(finding.code, rule.id), reached: finding.place, counted, masked };
    }
    if (rule.effect.kind !== 'mask') {
      return { stop: denied(rule.id), reached: finding.place, counted, masked };
    }
    // A rule with folds can match in both of its passes.
    const last = masked.at(-1);
    if (last?.place === finding.place && last.text === finding.text) continue;
    masked.push({ place: finding.place, text: finding.text });
  }
  return { stop: undefined, reached: to, counted, masked };
}

/** Sort order of findings: by rule; for one rule an error before its matches; matches by message. */
function inOrder(left: BatchFinding, right: BatchFinding): number {
  if (left.place !== right.place) return left.place - right.place;
  if (left.kind === 'error') return right.kind === 'error' ? 0 : -1;
  return right.kind === 'error' ? 1 : left.text - right.text;
}
