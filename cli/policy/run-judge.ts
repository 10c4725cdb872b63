import { join } from 'node:path';
import { type JudgeJob, type JudgeVerdict, judgeVerdictSchema } from '#contracts/judge';
import { runChild } from '#kit/process/run-child';
import { CliError } from '../errors/cli-error.ts';
import { checkout } from '../platform/data-directory.ts';

/** The operator refuses a bundle whose validation takes longer, too. */
const judgeMs = 30_000;
/** A bundle in its canonical form, escaped, and the results of its tests. */
const maxVerdictBytes = 16 * 1_024 * 1_024;

/**
 * Validates a bundle in a child process.
 * @throws CliError refused after a timeout, failed if the process fails
 */
export async function runJudge(job: JudgeJob): Promise<JudgeVerdict> {
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
