import { assembleBundle } from '#contracts/assemble-bundle';
import { type BundleLimits, defaultBundleLimits } from '#contracts/bundle';
import { describeProblem } from '#contracts/describe-problem';
import type { JudgeJob, JudgeVerdict } from '#contracts/judge';
import type { ApprovedProvider } from '#contracts/providers';
import { CliError } from '../errors/cli-error.ts';
import type { PolicyInFile } from './read-policy.ts';
import { runJudge } from './run-judge.ts';

type JudgeOptions = {
  readonly policyId?: string;
  readonly revision?: string;
  readonly contentProfile: string;
  readonly limits?: BundleLimits;
  readonly approved: readonly ApprovedProvider[];
  /** The file that lists the approved providers, if the user names a file. */
  readonly approvedIn?: string | undefined;
  /** Texts to check with the local rules. */
  readonly checks?: readonly Omit<JudgeJob['checks'][number], 'policyId'>[];
};

export type JudgedPolicy = { readonly bytes: Buffer; readonly digest: string; readonly verdict: JudgeVerdict };

/**
 * Builds and validates the bundle of one policy.
 * @throws CliError refused with every problem: stage, rule and reason; timeout
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
    const [provider] = policy.spec.definition.providers;
    const isListAbsent = assembled.reason === 'provider_unknown' && options.approved.length === 0;
    const message =
      isListAbsent && provider !== undefined
        ? `whether the provider ${provider.name} is approved is not known: name the file of the approved providers with --providers FILE, such as .portcullis/providers.yaml`
        : `${assembled.message}${listHint(assembled.reason, options.approvedIn)}`;
    throw new CliError('refused', `${source}: policy ${name}: ${message} (${assembled.reason})`);
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

function listHint(reason: string, approvedIn: string | undefined): string {
  return reason === 'provider_unknown' && approvedIn !== undefined
    ? `; ${approvedIn} lists the approved providers`
    : '';
}
