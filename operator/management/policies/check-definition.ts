import { assembleBundle } from '#contracts/assemble-bundle';
import type { BundleLimits } from '#contracts/bundle';
import { describeProblem } from '#contracts/describe-problem';
import { type JudgeVerdict, judgeVerdictSchema } from '#contracts/judge';
import type { Definition, Rule } from '#contracts/policy';
import type { PolicyCheck, PolicyCheckResult } from '#contracts/policy-check';
import { currentProfile } from '#contracts/profiles';
import type { ApprovedProvider } from '#contracts/providers';
import { createSemaphore } from '#kit/concurrency/semaphore';
import type { KeptChildren } from '#kit/process/kept-child';

/** The validation did not end within its time, or ended with an error. */
export class CheckUnavailableError extends Error {}

export type DefinitionChecker = (check: PolicyCheck) => Promise<PolicyCheckResult>;

const timeoutMs = 15_000;
/** A validation uses a core, and this process answers other requests meanwhile. */
const atOnce = 2;
/** The id of the checked policy in its bundle, which is not stored anywhere. */
const policyId = '00000000-0000-7000-8000-000000000000';

/**
 * Checks a definition and texts with the rules of an application, in a separate child process. Rules with a provider
 * are listed but not run. Nothing is stored.
 */
export function createDefinitionChecker(
  judges: Pick<KeptChildren, 'ask'>,
  environment: () => {
    readonly approved: readonly ApprovedProvider[];
    readonly limits: BundleLimits;
  },
): DefinitionChecker {
  const slots = createSemaphore(atOnce);

  function assemble(definition: Definition) {
    const { approved, limits } = environment();
    const fixed = { policyId, revision: '1', contentProfile: currentProfile };
    return assembleBundle({ ...fixed, definition, limits, approved });
  }

  async function judge(bundle: Buffer, { definition, checks, marks }: PolicyCheck): Promise<JudgeVerdict> {
    const masking = marks ? assemble(maskingAll(definition)) : undefined;
    const release = await slots.acquire(AbortSignal.timeout(timeoutMs)).catch(() => undefined);
    if (release === undefined) throw new CheckUnavailableError('too many definitions are being checked');
    try {
      const job = {
        bundle: bundle.toString('utf8'),
        ...(masking === undefined || masking.kind === 'refused' ? {} : { marksBundle: masking.bytes.toString('utf8') }),
        checks: checks.map((one) => ({ ...one, policyId })),
        threads: 1,
      };
      const answer = await judges.ask(JSON.stringify(job), timeoutMs);
      if (answer.kind === 'ended') throw new CheckUnavailableError('the definition was not checked in time');
      return judgeVerdictSchema.parse(JSON.parse(answer.line));
    } finally {
      release();
    }
  }

  return async (check) => {
    const assembled = assemble(check.definition);
    if (assembled.kind === 'refused') return refusedDefinition(assembled.message);
    const verdict = await judge(assembled.bytes, check);
    const [streaming] = verdict.streaming;
    return {
      streams: { allowed: streaming?.allowed ?? false, rule: streaming?.rule ?? null },
      problems: verdict.problems.map((problem) => describeProblem(problem, undefined)),
      warnings: verdict.warnings.map((warning) => describeProblem(warning, undefined)),
      results: verdict.results.map(({ name, decision, code, rules, contents, skipped, marks }) => ({
        name,
        decision,
        code: code ?? null,
        rules,
        contents: contents ?? null,
        skipped,
        marks: marks ?? [],
      })),
    };
  };
}

function refusedDefinition(problem: string): PolicyCheckResult {
  return { problems: [problem], warnings: [], streams: { allowed: false, rule: null }, results: [] };
}

/** The same definition with masks instead of denials: only mask rules list their matches. */
function maskingAll(definition: Definition): Definition {
  const sectionOf = (section: Definition['request']): Definition['request'] => ({
    ...section,
    baseline: section.baseline.map(masking),
    additional: section.additional.map(masking),
  });
  const { shared } = definition;
  return {
    ...definition,
    ...(shared === undefined ? {} : { shared: shared.map(masking) }),
    request: sectionOf(definition.request),
    response: sectionOf(definition.response),
  };
}

function masking<R extends Rule>(rule: R): R {
  if (rule.kind !== 'stop_list' && rule.kind !== 'regex') return rule;
  return { ...rule, action: { type: 'mask', replacement: '' } };
}
