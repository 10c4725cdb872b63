import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { type JudgeJob, type JudgeVerdict, judgeVerdictSchema, maxVerdictBytes } from '#contracts/judge';
import { runChild } from '#kit/process/run-child';
import { CliError } from '../errors/cli-error.ts';
import { openProgressLine } from '../output/progress-line.ts';
import { checkout } from '../platform/data-directory.ts';

type JudgeProcess = { readonly file: string; readonly timeoutMs: number };

/** The operator uses the same timeout. */
const shippedJudge: JudgeProcess = { file: join(checkout, 'runtime/judge.ts'), timeoutMs: 30_000 };

/**
 * Validates a bundle in a child process.
 * @throws CliError timeout, failed if the process fails
 */
export async function runJudge(job: JudgeJob, { file, timeoutMs }: JudgeProcess = shippedJudge): Promise<JudgeVerdict> {
  using line = openProgressLine();
  const progress = createProgress((judged, rules) => line.show(`judging rule ${judged} of ${rules}`));
  const end = await runChild(file, {
    input: JSON.stringify({ ...job, progress: true, cacheDirectory: join(cacheDirectory(), 'judging') }),
    timeoutMs,
    signal: new AbortController().signal,
    maxOutputBytes: maxVerdictBytes,
    onStderr: progress.read,
  });
  if (end.timedOut) throw new CliError('timeout', tooSlow(timeoutMs, progress.last()));
  if (end.code === null) throw new CliError('failed', killed(progress.last()));
  if (end.code !== 0) throw new CliError('failed', failed(end.code, end.stderr));
  return judgeVerdictSchema.parse(JSON.parse(end.stdout));
}

type Judged = { readonly judged: number; readonly rules: number };

const progressLine = /^judged (\d+) of (\d+)$/;

/** Reads the lines `judged N of M` of the validation. */
function createProgress(onProgress: (judged: number, rules: number) => void) {
  let last: Judged | undefined;
  return {
    last: () => last,
    read(text: string): void {
      const [, judged, rules] = [...text.matchAll(new RegExp(progressLine, 'gm'))].at(-1) ?? [];
      if (judged === undefined || rules === undefined) return;
      last = { judged: Number(judged), rules: Number(rules) };
      onProgress(last.judged, last.rules);
    },
  };
}

function tooSlow(timeoutMs: number, last: Judged | undefined): string {
  const slow = `The policy was not judged within ${timeoutMs / 1_000} s: this machine is too slow or too busy`;
  return `${slow}${progressText(last)}. ${unknownYet}`;
}

/** The system ends a process when memory runs out, and `runChild` ends a process whose output is too large. */
function killed(last: Judged | undefined): string {
  return `The validation was killed before its end, for example because memory ran out${progressText(last)}. ${unknownYet}`;
}

const unknownYet = 'The policy was neither accepted nor refused. Run the command again: it continues where it stopped.';

function progressText(last: Judged | undefined): string {
  return last === undefined ? '' : ` (${last.judged} of ${last.rules} rules are judged)`;
}

/**
 * The last output of the process, without its progress. The text may come from the engine and is shown only for
 * debugging.
 */
function failed(code: number, stderr: string): string {
  const lines = stderr.split('\n').filter((line) => line.trim() !== '' && !progressLine.test(line));
  const said = lines.at(-1);
  if (said !== undefined && process.env['PORTCULLIS_DEBUG'] !== undefined) return `The validation failed: ${said}`;
  return `The validation ended with the code ${code} and without a result. Repeat the command with PORTCULLIS_DEBUG=1 and report its output.`;
}

/** The cache folder of the user, as the XDG Base Directory specification defines it. */
function cacheDirectory(env: NodeJS.ProcessEnv = process.env): string {
  const { XDG_CACHE_HOME: named = '' } = env;
  return join(isAbsolute(named) ? named : join(homedir(), '.cache'), 'portcullis');
}
