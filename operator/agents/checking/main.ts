import { text } from 'node:stream/consumers';
import { describeFailure } from '#kit/log/describe-failure';
import { checkVersion } from './check-version.ts';
import { versionJobSchema } from './version-check.ts';

/**
 * Entry of a child process: reads one job from standard input, writes one verdict to standard output and ends with 0,
 * even if the version is refused. A failure ends with 1 and a line on standard error. The operator kills the process
 * after a timeout, so that the flow of an author cannot block the operator.
 */
process.title = 'portcullis-version-check';
try {
  const job = versionJobSchema.parse(JSON.parse(await text(process.stdin)));
  process.stdout.write(JSON.stringify(await checkVersion(job)));
} catch (error) {
  process.stderr.write(`version check: ${describeFailure(error)}\n`);
  process.exitCode = 1;
}
