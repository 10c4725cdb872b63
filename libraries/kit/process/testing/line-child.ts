/** A child process for tests: each line of its standard input is a job as JSON, which is answered with one line. */
import { streamLines } from '../stream-lines.ts';

type LineJob = {
  /** Length of the answer in characters; without it the answer is the line and the process. */
  readonly out?: number;
  /** Whether the process ends without an answer. */
  readonly ends?: boolean;
  /** Whether the process sends no answer. */
  readonly hangs?: boolean;
  /** Whether the answer has no line feed. */
  readonly isOpen?: boolean;
};

for await (const line of streamLines(process.stdin)) {
  const { out, ends, hangs, isOpen } = JSON.parse(line) as LineJob;
  if (ends) process.exit(3);
  if (hangs) continue;
  const answer = out === undefined ? JSON.stringify({ line, pid: process.pid, env: process.env }) : 'o'.repeat(out);
  process.stdout.write(isOpen ? answer : `${answer}\n`);
}
