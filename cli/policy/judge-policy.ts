import { join } from 'node:path';
import { assembleBundle } from '#contracts/assemble-bundle';
import { type BundleLimits, defaultBundleLimits } from '#contracts/bundle';
import { describeProblem } from '#contracts/describe-problem';
import { type JudgeJob, type JudgeVerdict, judgeVerdictSchema } from '#contracts/judge';
import type { ApprovedProvider } from '#contracts/providers';
import { runChild } from '#kit/process/run-child';
import { CliError } from '../errors/cli-error.ts';
import { checkout } from '../platform/data-directory.ts';
import type { PolicyInFile } from './read-policy.ts';

type JudgeOptions = {
  readonly policyId?: string;
  readonly revision?: string;
  readonly contentProfile: string;
  readonly limits?: BundleLimits;
  readonly approved: readonly ApprovedProvider[];
  /** Texts to check with the local rules. */
  readonly checks?: readonly Omit<JudgeJob['checks'][number], 'policyId'>[];
};

type JudgedPolicy = { readonly bytes: Buffer; readonly digest: string; readonly verdict: JudgeVerdict };

/**
 * Builds and validates the bundle of one policy.
 * @throws CliError refused with every problem: stage, rule and reason
 */
export async function judgePolicy({ source, policy, id }: PolicyInFile, options: JudgeOptions): Promise<JudgedPolicy> {
  const policyId = options.policyId ?? id;
  const assembled = assembleBundle({
    policyId,
    revision: options.revision ?? '1',
    definition: policy.spec.definition,
    contentProfile: options.contentProfile,
    limits: options.limits ?? defaultBundleLimits,
    approved: options.approved,
  });
  const name = policy.metadata.name;
  if (assembled.kind === 'refused') {
    throw new CliError('refused', `${source}: policy ${name}: ${assembled.message} (${assembled.reason})`);
  }
  const { bytes, digest } = assembled;
  const checks = (options.checks ?? []).map((check) => ({ ...check, policyId }));
  const verdict = await runJudge({ bundle: bytes.toString('utf8'), checks });
  if (verdict.problems.length > 0) {
    const problems = verdict.problems.map(
      (problem) => `${source}: ${describeProblem(problem, name)} (${problem.code})`,
    );
    throw new CliError('refused', problems.join('\n'));
  }
  return { bytes, digest, verdict };
}

/** The operator also refuses a bundle whose validation takes longer. */
const judgeMs = 30_000;
/** A bundle in its canonical form, escaped, and the results of its tests. */
const maxVerdictBytes = 16 * 1_024 * 1_024;

/**
 * Validates a bundle in a child process.
 * @throws CliError refused after a timeout, failed if the process fails
 */
async function runJudge(job: JudgeJob): Promise<JudgeVerdict> {
  const end = await runChild(join(checkout, 'runtime/judge.ts'), {
    input: JSON.stringify(job),
    timeoutMs: judgeMs,
    signal: new AbortController().signal,
    maxOutputBytes: maxVerdictBytes,
  });
  if (end.timedOut) throw new CliError('refused', `The policy could not be validated within ${judgeMs / 1_000} s.`);
  if (end.code !== 0) throw new CliError('failed', `The validation failed: ${end.stderr.trim()}`);
  return judgeVerdictSchema.parse(JSON.parse(end.stdout));
}
