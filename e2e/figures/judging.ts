import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assembleBundle } from '#contracts/assemble-bundle';
import { defaultBundleLimits } from '#contracts/bundle';
import { type JudgeJob, judgeVerdictSchema } from '#contracts/judge';
import type { BaselineRule } from '#contracts/policy';
import { currentProfile } from '#contracts/profiles';
import { runChild } from '#kit/process/run-child';
import { root } from '../../hack/check/run-tool.ts';
import { quiet } from '../../runtime/testing/build-bundle.ts';
import { examplePolicies } from '../cost/policies.ts';
import type { Figure } from '../support/figure.ts';

const rules = 200;
/** Upper bounds as multiples of the time to validate one term, which is mostly the start of the process. */
const bounds = { cold: 20, warm: 3 };
/**
 * Upper bounds in seconds on two free cores, which only the full size asserts, because it is measured without other
 * load.
 */
const mostSeconds = { cold: 4, warm: 1 };

export const figure: Figure = {
  name: 'judging',
  title: `validating ${rules} rules of the rule pack takes at most ${bounds.cold} times as long as one term, and ${bounds.warm} times when their results are cached; in full size also at most ${mostSeconds.cold} s and ${mostSeconds.warm} s`,
  async run(size, say) {
    const cacheDirectory = mkdtempSync(join(tmpdir(), 'portcullis-judging-'));
    try {
      const rounds = size === 'full' ? 5 : 2;
      const one: number[] = [];
      const cold: number[] = [];
      const warm: number[] = [];
      const pack = bundleOf(packRules());
      for (let round = 0; round < rounds; round += 1) {
        rmSync(cacheDirectory, { recursive: true });
        one.push(await secondsOf({ bundle: bundleOf([quiet]), checks: [] }));
        cold.push(await secondsOf({ bundle: pack, checks: [], cacheDirectory }));
        warm.push(await secondsOf({ bundle: pack, checks: [], cacheDirectory }));
        say(
          `one term ${one.at(-1)?.toFixed(2)} s, cold ${cold.at(-1)?.toFixed(2)} s, warm ${warm.at(-1)?.toFixed(2)} s`,
        );
      }
      // The shortest time is used, because other load can only increase the times.
      const [base, first, again] = [Math.min(...one), Math.min(...cold), Math.min(...warm)];
      const ratios = `${(first / base).toFixed(1)} and ${(again / base).toFixed(1)} times one term`;
      const isQuick = size !== 'full' || (first <= mostSeconds.cold && again <= mostSeconds.warm);
      return {
        holds: first <= bounds.cold * base && again <= bounds.warm * base && isQuick,
        line: `${rules} rules in ${first.toFixed(2)} s, cached in ${again.toFixed(2)} s: ${ratios}`,
      };
    } finally {
      rmSync(cacheDirectory, { recursive: true, force: true });
    }
  },
};

/**
 * The first rules of the pack, for one section. A rule is admitted by the smallest timeout of its section, so that all
 * rules have the largest timeout.
 */
function packRules(): readonly BaselineRule[] {
  const pack = examplePolicies('rule-pack').flatMap(({ definition }) => definition.request.baseline);
  const timeoutMs = Math.max(...pack.map((rule) => rule.timeoutMs));
  return pack.slice(0, rules).map((rule) => ({ ...rule, timeoutMs }));
}

function bundleOf(baseline: readonly BaselineRule[]): string {
  const request = { deadlineMs: 4_000, baseline: [...baseline], additional: [] };
  const response = { deadlineMs: 4_000, baseline: [quiet], additional: [] };
  const assembled = assembleBundle({
    policyId: 'judging',
    revision: '1',
    definition: { request, response, providers: [] },
    contentProfile: currentProfile,
    limits: defaultBundleLimits,
    approved: [],
  });
  if (assembled.kind === 'refused') throw new Error(assembled.message);
  return assembled.bytes.toString('utf8');
}

async function secondsOf(job: JudgeJob): Promise<number> {
  const begun = performance.now();
  const end = await runChild(join(root, 'runtime/judge.ts'), { input: JSON.stringify(job) });
  const seconds = (performance.now() - begun) / 1_000;
  const { problems } = judgeVerdictSchema.parse(JSON.parse(end.stdout));
  if (problems.length > 0) throw new Error(`the pack is refused: ${problems[0]?.message}`);
  return seconds;
}
