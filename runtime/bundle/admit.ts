import type { Section } from '#contracts/policy';
import type { BundleProblem } from './bundle-error.ts';
import type { SectionPlace } from './section-place.ts';

/** The largest estimate of one pass that is admitted, whatever its timeout; milliseconds. */
const longestPassMs = 25;

/** The estimated worst case of one engine pass at maxBodyBytes, and the rules that the pass judges. */
export type PassCost = {
  readonly rules: readonly string[];
  /** Estimated time, milliseconds; Infinity without an estimate. */
  readonly costMs: number;
};

/**
 * The estimates that local rules of a section may have, in milliseconds. The engine cannot be interrupted, so this is
 * decided at load. A quarter leaves a safety factor of 4 for the estimate.
 */
type Allowance = {
  /** Budget of one engine pass: a quarter of the smallest timeoutMs of the local rules, at most 25 ms. */
  readonly passMs: number;
  /** Budget of all engine passes of the section: half of its deadlineMs. */
  readonly sectionMs: number;
  readonly smallestTimeoutMs: number;
};

export function allowanceOf(section: Pick<Section, 'deadlineMs'>, localTimeouts: readonly number[]): Allowance {
  const smallestTimeoutMs = Math.min(section.deadlineMs, ...localTimeouts);
  return {
    passMs: Math.min(smallestTimeoutMs / 4, longestPassMs),
    sectionMs: section.deadlineMs / 2,
    smallestTimeoutMs,
  };
}

/** Refuses rules whose estimate exceeds the allowance, by name and reason (docs/design/matching.md, The estimate). */
export function admitSection(
  place: SectionPlace,
  { allowance, maxBodyBytes }: { readonly allowance: Allowance; readonly maxBodyBytes: number },
  passes: readonly PassCost[],
): readonly BundleProblem[] {
  const tooCostly = new Map<string, number>();
  for (const { rules, costMs } of passes) {
    if (costMs <= allowance.passMs) continue;
    for (const rule of rules) tooCostly.set(rule, larger(tooCostly.get(rule) ?? 0, costMs));
  }
  if (tooCostly.size > 0) {
    return [...tooCostly].map(
      ([rule, costMs]): BundleProblem => ({
        ...place,
        rule,
        code: 'rule_too_costly',
        message: passReason(costMs, allowance, maxBodyBytes),
      }),
    );
  }
  const totalMs = passes.reduce((sum, { costMs }) => sum + costMs, 0);
  if (totalMs <= allowance.sectionMs) return [];
  const [costliest] = [...passes].sort((left, right) => right.costMs - left.costMs);
  const rule = costliest?.rules[0];
  const message =
    `the local rules of its section together may take ${shown(totalMs)} on ${maxBodyBytes} bytes (maxBodyBytes), more ` +
    `than half of deadlineMs (${shown(allowance.sectionMs)}), and this rule takes the largest part ` +
    `(${shown(costliest?.costMs ?? 0)}): remove or narrow rules, or raise deadlineMs`;
  return [{ ...place, ...(rule === undefined ? {} : { rule }), code: 'rule_too_costly', message }];
}

/** NaN counts as larger than any number. */
function larger(one: number, other: number): number {
  return one >= other ? one : other;
}

function passReason(costMs: number, { passMs, smallestTimeoutMs }: Allowance, maxBodyBytes: number): string {
  const limit =
    passMs === longestPassMs
      ? `${shown(passMs)}, the most that any local rule may take`
      : `${shown(passMs)}, a quarter of the smallest timeoutMs (${smallestTimeoutMs} ms) of the local rules of its section`;
  const worst = Number.isFinite(costMs)
    ? `it may take ${shown(costMs)} on ${maxBodyBytes} bytes (maxBodyBytes), above ${limit}`
    : `its time on ${maxBodyBytes} bytes (maxBodyBytes) has no known bound, and may be above ${limit}`;
  return `${worst}: ${remedy(costMs)}`;
}

const narrower = 'write it narrower, with small bounds such as {0,64} and few alternatives';

function remedy(costMs: number): string {
  if (!(costMs <= longestPassMs)) return `${narrower}, or move it into an external detector`;
  const needed = Math.ceil(4 * costMs);
  return `${narrower}, raise timeoutMs of every local rule of its section to ${needed}, or move it into an external detector`;
}

function shown(ms: number): string {
  return `${ms < 10 ? ms.toFixed(2) : ms.toFixed(0)} ms`;
}
