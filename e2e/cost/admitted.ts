import type { Bundle } from '#contracts/bundle';
import type { FigureSize } from '../support/figure.ts';
import { judgeInProcess, problemsOf } from './judge-process.ts';
import { bundleAt, bundlePolicyOf, examplePolicies, exampleTimeoutMs, joined, withRuleTimeout } from './policies.ts';

/** The example policy and the rule pack in one bundle, unchanged; the small size has only a part of the pack. */
export function publishedBundle(size: FigureSize): Bundle {
  const pack = examplePolicies('rule-pack').filter(({ name }) => size === 'full' || name === 'jailbreaks');
  return bundleAt([...examplePolicies('guarded-chat'), ...pack].map(bundlePolicyOf), 32_768);
}

type AdmittedReport = {
  readonly policies: number;
  readonly rules: number;
  readonly problems: readonly string[];
};

/**
 * Whether every rule of the example and of the pack is admitted; in the full size also with larger bodies and
 * deadlines.
 */
export async function judgeAdmitted(size: FigureSize, say: (line: string) => void): Promise<AdmittedReport> {
  const published = publishedBundle(size);
  const problems = await problemsOf(published);
  const rules = published.policies.reduce(
    (sum, { request }) => sum + request.baseline.length + request.additional.length,
    0,
  );
  if (size === 'full') await sayReach(say);
  return { policies: published.policies.length, rules, problems };
}

async function sayReach(say: (line: string) => void): Promise<void> {
  const pack = examplePolicies('rule-pack');
  for (const deadlineMs of [250, 600]) {
    const inOne = await problemsOf(bundleAt([joined(pack, deadlineMs)], 32_768));
    say(`the pack in one section with deadlineMs ${deadlineMs}: ${inOne.length === 0 ? 'admitted' : inOne.join('; ')}`);
  }
  for (const timeoutMs of [exampleTimeoutMs, 100]) {
    const large = await problemsOf(
      bundleAt(
        pack.map((one) => bundlePolicyOf(withRuleTimeout(one, timeoutMs))),
        131_072,
      ),
    );
    say(`the pack at maxBodyBytes 131072 with timeoutMs ${timeoutMs}: ${large.length} rules of its sections refused`);
    for (const sentence of large.slice(0, 5)) say(`  ${sentence}`);
  }
}

/** Whether the given number of new processes print the same bytes for each of the bundles. */
export async function judgesAlike(bundles: readonly Bundle[], times: number): Promise<boolean> {
  const printed = new Set<string>();
  for (const [at, bundle] of bundles.entries()) {
    for (let time = 0; time < times; time += 1) printed.add(`${at} ${await judgeInProcess(bundle)}`);
  }
  return printed.size === bundles.length;
}
