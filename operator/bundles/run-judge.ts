import { join } from 'node:path';
import type { Bundle } from '#contracts/bundle';
import { describeProblem, type PlacedMessage } from '#contracts/describe-problem';
import { type JudgeJob, type JudgeVerdict, judgeVerdictSchema, maxVerdictBytes } from '#contracts/judge';
import { providerOf, rulesInOrder } from '#contracts/policy';
import { createSemaphore } from '#kit/concurrency/semaphore';
import { openTokenFile, TokenFileError } from '#kit/http/token-file';
import { jsonOrUndefined } from '#kit/json/json-or-undefined';
import { runChild } from '#kit/process/run-child';
import { BrokenError } from '../reconcile/outcome.ts';
import type { BundleCheck, BundleCheckResult, Judge, ValidationResult } from './ports.ts';

/**
 * Timeout of a validation. A validation that exceeds this time indicates a slow machine, not a fault of the bundle: it
 * is repeated and continues with the figures that were already measured.
 */
const judgeTimeoutMs = 30_000;
/** Limit of concurrent validations, because each uses a core. */
const atOnce = 2;
/** Number of threads of one validation, so that the memory of its container is limited. */
const threads = 2;
/** Maximum number of cached validation results. */
const remembered = 512;

type JudgeOptions = {
  /** `runtime/judge.ts` of this checkout. */
  readonly file: string;
  readonly secretsDirectory: string;
  /** Folder of the pattern figures of earlier validations; if absent, no figures are kept. */
  readonly cacheDirectory?: string | undefined;
  readonly timeoutMs?: number;
};

/** A validation that exceeded its timeout or returned no valid result. */
type NoVerdict = 'late' | 'invalid';

/** Starts `runtime/judge.ts` as a child process for every validation. */
export function createJudge(options: JudgeOptions): Judge {
  const { file, secretsDirectory, cacheDirectory, timeoutMs = judgeTimeoutMs } = options;
  const kept = cacheDirectory === undefined ? {} : { cacheDirectory };
  const slots = createSemaphore(atOnce);
  const judgements = new Map<string, ValidationResult>();

  async function run(job: JudgeJob, signal: AbortSignal): Promise<JudgeVerdict | NoVerdict> {
    const release = await slots.acquire(signal);
    try {
      const ended = await runChild(file, {
        input: JSON.stringify({ ...job, ...kept, threads }),
        timeoutMs,
        signal,
        maxOutputBytes: maxVerdictBytes,
      });
      if (ended.timedOut) return 'late';
      if (ended.code === null)
        throw new BrokenError('JudgeUnavailable', 'the validation of the bundle was killed by the system');
      if (ended.code !== 0)
        throw new BrokenError('JudgeUnavailable', 'the validation of the bundle ended with an error');
      const verdict = judgeVerdictSchema.safeParse(jsonOrUndefined(ended.stdout));
      return verdict.success ? verdict.data : 'invalid';
    } finally {
      release();
    }
  }

  function remember(digest: string, judgement: ValidationResult): ValidationResult {
    judgements.set(digest, judgement);
    const [oldest] = judgements.keys();
    if (judgements.size > remembered && oldest !== undefined) judgements.delete(oldest);
    return judgement;
  }

  return {
    async judge({ bytes, digest }, signal) {
      const known = judgements.get(digest);
      if (known !== undefined) return known;
      const verdict = await run({ bundle: bytes.toString('utf8'), checks: [] }, signal);
      if (verdict === 'late') throw tooSlow(timeoutMs);
      return remember(digest, judgementOf(verdict, digest));
    },
    async check(bundle, checks, { providers, signal }) {
      const missing = providers === 'called' ? missingCredential(bundle, secretsDirectory) : undefined;
      if (missing !== undefined) throw new BrokenError('CredentialMissing', missing);
      const job: JudgeJob = {
        bundle: JSON.stringify(bundle),
        checks: checks.map(copyOf),
        ...(providers === 'called' ? { secretsDirectory } : {}),
      };
      const verdict = await run(job, signal);
      // If providers are called, they may be the cause of the timeout.
      if (verdict === 'late' && providers === 'skipped') throw tooSlow(timeoutMs);
      if (typeof verdict === 'string')
        return checks.map(({ name }) => ({ name, decision: 'Failed', code: verdict, rules: [] }));
      // If the credential of a provider is missing, the whole bundle is refused and no provider is called.
      const refusal = verdict.problems.map(sentenceOf).join('; ');
      return checks.map(({ name }) =>
        refusal === '' ? resultOf(name, verdict) : { name, decision: 'Failed', code: refusal, rules: [] },
      );
    },
  };
}

/**
 * The first credential that a rule of the bundle needs and that cannot be read now.
 * @param secretsDirectory folder of credentials, one file each
 * @returns a sentence that names provider and credential; undefined if no credential is missing
 */
function missingCredential({ policies, providers }: Bundle, secretsDirectory: string): string | undefined {
  const rules = policies.flatMap(({ request, response }) => [...rulesInOrder(request), ...rulesInOrder(response)]);
  const asked = new Set(rules.map(providerOf));
  for (const { name, credential } of providers) {
    if (!asked.has(name)) continue;
    try {
      openTokenFile(join(secretsDirectory, credential));
    } catch (error) {
      if (!(error instanceof TokenFileError)) throw error;
      return `the provider ${name} is not called until its credential ${credential} can be read (${error.code})`;
    }
  }
  return undefined;
}

function copyOf({ name, policyId, stage, messages }: BundleCheck): JudgeJob['checks'][number] {
  return { name, policyId, stage, messages: messages.map(({ role, content }) => ({ role, content })) };
}

function resultOf(name: string, verdict: JudgeVerdict): BundleCheckResult {
  const found = verdict.results.find((result) => result.name === name);
  if (found === undefined) return { name, decision: 'Failed', code: 'invalid', rules: [] };
  const { decision, code, cause, rules } = found;
  return { name, decision, code, ...(cause === undefined ? {} : { cause }), rules };
}

function judgementOf(verdict: JudgeVerdict | 'invalid', digest: string): ValidationResult {
  if (verdict === 'invalid') return refused('the validation of the bundle returned no verdict');
  if (verdict.problems.length > 0) {
    const isCostly = verdict.problems.every((problem) => problem.code === 'rule_too_costly');
    const reason = isCostly ? 'rule_too_costly' : 'bundle_invalid';
    return { kind: 'refused', reason, message: verdict.problems.map(sentenceOf).join('; ') };
  }
  if (verdict.digest !== digest) return refused('the validation read a bundle with another digest than the built one');
  const [streaming] = verdict.streaming;
  const [division] = verdict.division;
  return {
    kind: 'accepted',
    streaming:
      streaming?.allowed === true
        ? { allowed: true }
        : { allowed: false, rule: streaming?.rule ?? 'a rule of the response section' },
    division:
      division?.allowed === true
        ? { allowed: true }
        : { allowed: false, rule: division?.rule ?? 'a rule of the request section' },
    warnings: verdict.warnings.map(sentenceOf),
  };
}

function tooSlow(timeoutMs: number): BrokenError {
  const message = `the machine is too slow or too busy: the bundle was not validated within ${timeoutMs / 1_000} s; the validation is repeated and continues where it stopped`;
  return new BrokenError('JudgeTimeout', message);
}

/** The caller adds the name of the policy to the message. */
function sentenceOf(problem: PlacedMessage): string {
  return describeProblem(problem, undefined);
}

function refused(message: string): ValidationResult {
  return { kind: 'refused', reason: 'bundle_invalid', message };
}
