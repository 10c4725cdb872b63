import type { JudgeJob, JudgeVerdict } from '#contracts/judge';
import { type JudgeOptions, judgeBundle } from './judge-bundle.ts';

/**
 * The verdict about the bundle of a job. If the job has a second bundle, in which every rule masks, the matches of the
 * rules in that bundle become the marks of the results. It is judged in the same process, because starting a process
 * takes longer than both judgements.
 */
export async function judgeWithMarks(
  { marksBundle, ...job }: JudgeJob,
  options: JudgeOptions = {},
): Promise<JudgeVerdict> {
  const verdict = await judgeBundle(job, options);
  if (marksBundle === undefined || verdict.problems.length > 0) return verdict;
  const masked = await judgeBundle({ ...job, bundle: marksBundle, marks: true }, { memory: options.memory });
  return {
    ...verdict,
    results: verdict.results.map((result, at) => ({ ...result, marks: masked.results[at]?.marks ?? [] })),
  };
}
