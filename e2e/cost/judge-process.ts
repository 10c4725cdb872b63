import { join } from 'node:path';
import type { Bundle } from '#contracts/bundle';
import { describeProblem } from '#contracts/describe-problem';
import { type JudgeVerdict, judgeVerdictSchema, maxVerdictBytes } from '#contracts/judge';
import { runChild } from '#kit/process/run-child';
import { root } from '../../hack/check/run-tool.ts';

const longestMs = 120_000;

/** The output of judge.ts for a bundle, started as the operator and the CLI start it. */
export async function judgeInProcess(bundle: Bundle): Promise<string> {
  const { code, stdout, stderr } = await runChild(join(root, 'runtime/judge.ts'), {
    input: JSON.stringify({ bundle: JSON.stringify(bundle), checks: [] }),
    timeoutMs: longestMs,
    signal: new AbortController().signal,
    maxOutputBytes: maxVerdictBytes,
  });
  if (code !== 0) throw new Error(`the judgement ended with ${code}: ${stderr}`);
  return stdout;
}

function verdictOf(printed: string): JudgeVerdict {
  return judgeVerdictSchema.parse(JSON.parse(printed));
}

/** The problems of a bundle as sentences. */
export async function problemsOf(bundle: Bundle): Promise<readonly string[]> {
  const { problems } = verdictOf(await judgeInProcess(bundle));
  return problems.map((problem) => describeProblem(problem, problem.policyId));
}
