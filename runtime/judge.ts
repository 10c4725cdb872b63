import { judgeJobSchema } from '#contracts/judge';
import { describeFailure } from '#kit/log/describe-failure';
import { streamLines } from '#kit/process/stream-lines';
import { createFigureMemory } from './judgement/figures/figure-memory.ts';
import { judgeWithMarks } from './judgement/judge-with-marks.ts';

/**
 * Entry of a child process: each line of standard input is a job, and for each job one line with its verdict is written
 * to standard output, even if the bundle is refused (#contracts/judge). The process ends with 0 after its input.
 * Without a job, after a job of another shape, or after a failure, it ends with 1 and a line on standard error. The
 * parent process kills it after a timeout, because the engine cannot be interrupted from inside. Between jobs the
 * process keeps only the figures of patterns, and no part of a text.
 */
process.title = 'portcullis-judge';
const memory = createFigureMemory();

async function judge(line: string): Promise<void> {
  const job = judgeJobSchema.parse(JSON.parse(line));
  const report = (judged: number, rules: number): void => void process.stderr.write(`judged ${judged} of ${rules}\n`);
  const verdict = await judgeWithMarks(job, { memory, onProgress: job.progress === true ? report : undefined });
  process.stdout.write(`${JSON.stringify(verdict)}\n`);
}

try {
  let jobs = 0;
  for await (const line of streamLines(process.stdin)) {
    await judge(line);
    jobs += 1;
  }
  if (jobs === 0) throw new Error('the input has no job');
} catch (error) {
  process.stderr.write(`judge: ${describeFailure(error)}\n`);
  process.exitCode = 1;
}
