import { text } from 'node:stream/consumers';
import { judgeJobSchema } from '#contracts/judge';
import { describeFailure } from '#kit/log/describe-failure';
import { judgeWithMarks } from './judgement/judge-with-marks.ts';

/**
 * Entry of a child process: reads one job from standard input, writes one verdict to standard output and ends with 0,
 * also where the bundle is refused (#contracts/judge). A job of another shape, or a failure, ends with 1 and a line on
 * standard error. The parent process kills it after a timeout: the engine cannot be interrupted from inside.
 */
process.title = 'portcullis-judge';
try {
  const job = judgeJobSchema.parse(JSON.parse(await text(process.stdin)));
  const report = (judged: number, rules: number): void => void process.stderr.write(`judged ${judged} of ${rules}\n`);
  process.stdout.write(JSON.stringify(await judgeWithMarks(job, job.progress === true ? report : undefined)));
} catch (error) {
  process.stderr.write(`judge: ${describeFailure(error)}\n`);
  process.exitCode = 1;
}
