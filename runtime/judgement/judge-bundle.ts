import type { JudgeJob, JudgeVerdict } from '#contracts/judge';
import { systemClock } from '#kit/time/clock';
import { connectProviders } from '../adapters/providers/connect-providers.ts';
import { BundleError, type BundleProblem } from '../bundle/bundle-error.ts';
import { type Compilation, compileBundle } from '../bundle/compile-bundle.ts';
import type { AskOf } from '../bundle/compile-section.ts';
import { type ParsedBundle, parseBundle } from '../bundle/parse-bundle.ts';
import { judgeStreaming } from '../bundle/streaming.ts';
import { runTextCheck } from './run-text-check.ts';

/** Connections to a provider: the checks of a judgement run one after another. */
const connections = 4;

/**
 * Validates a bundle as the runtime would load it, and checks texts with its rules. The verdict is the same on every
 * machine: rules are admitted by their structure, and local rules run without a clock.
 */
export async function judgeBundle(job: JudgeJob): Promise<JudgeVerdict> {
  const parsed = parseBundle(Buffer.from(job.bundle, 'utf8'));
  if (!parsed.ok) {
    return refused(parsed.problems, parsed.digest === undefined ? {} : { digest: parsed.digest });
  }
  const { digest } = parsed;
  const providers = connectProviders(parsed.bundle, {
    secretsDirectory: job.secretsDirectory,
    connections,
    clock: systemClock,
  });
  try {
    const compilation = compile(parsed, job.secretsDirectory === undefined ? skipped : providers.askOf);
    if (!compilation.ok) return refused(compilation.problems, { digest });
    return await judgeTexts(job, parsed, compilation);
  } finally {
    await providers[Symbol.asyncDispose]();
  }
}

async function judgeTexts(
  job: JudgeJob,
  { bundle, canonical, digest }: ParsedBundle,
  { loaded, warnings }: Extract<Compilation, { ok: true }>,
): Promise<JudgeVerdict> {
  const results: JudgeVerdict['results'] = [];
  for (const check of job.checks) {
    results.push(await runTextCheck(loaded, check, { asksProviders: job.secretsDirectory !== undefined }));
  }
  const windows = judgeStreaming(bundle);
  return {
    digest,
    canonical: canonical.toString('utf8'),
    problems: [],
    warnings: [...warnings, ...windows.warnings],
    streaming: [...windows.streaming],
    results,
  };
}

function refused(problems: readonly BundleProblem[], found: { readonly digest?: string }): JudgeVerdict {
  return { ...found, problems: [...problems], warnings: [], streaming: [], results: [] };
}

function compile(parsed: ParsedBundle, askOf: AskOf): Compilation {
  try {
    return compileBundle(parsed, askOf);
  } catch (error) {
    if (!(error instanceof BundleError)) throw error;
    return { ok: false, problems: [{ code: 'bundle_invalid', message: error.message }] };
  }
}

/** Stands for providers that are not asked: the steps that would ask are left out. */
const skipped: AskOf = () => async () => ({ kind: 'failed', code: 'internal' });
