import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openProgressLine } from '../output/progress-line.ts';
import { folderWithFiles } from '../testing/run-cli.ts';
import { runJudge } from './run-judge.ts';

test('a validation that takes too long ends with a timeout and its progress, and refuses no rule', async () => {
  using folder = folderWithFiles();
  const file = join(folder.path, 'endless.ts');
  writeFileSync(
    file,
    "process.stderr.write('judged 118 of 200\\njudged 120 of 200\\n'); setInterval(() => {}, 1_000);",
  );
  await expect(runJudge({ bundle: '{}', checks: [] }, { file, timeoutMs: 2_500 })).rejects.toMatchObject({
    exit: 'timeout',
    message:
      'The policy was not judged within 2.5 s: this machine is too slow or too busy (120 of 200 rules are judged). ' +
      'The policy was neither accepted nor refused. Run the command again: it continues where it stopped.',
  });
});

test.each([
  [
    "process.kill(process.pid, 'SIGKILL')",
    /^The validation was killed .* \(120 of 200 rules are judged\)\. The policy was neither/,
  ],
  [
    "process.stderr.write('judge: re2 text\\njudged 121 of 200\\n'); process.exitCode = 1",
    /^The validation ended with the code 1 and without a result\. Repeat the command with PORTCULLIS_DEBUG=1/,
  ],
])('a validation without a result is reported as a failure in words of the CLI: %s', async (end, message) => {
  using folder = folderWithFiles();
  const file = join(folder.path, 'ending.ts');
  writeFileSync(file, `process.stderr.write('judged 120 of 200\\n', () => { ${end} });`);
  await expect(runJudge({ bundle: '{}', checks: [] }, { file, timeoutMs: 60_000 })).rejects.toMatchObject({
    exit: 'failed',
    message: expect.stringMatching(message),
  });
});

test('progress is one line on a terminal, which is removed at the end, and is not written elsewhere', () => {
  const written: string[] = [];
  const write = (text: string) => written.push(text) > 0;
  for (const isTTY of [true, false]) {
    using line = openProgressLine({ isTTY, write } as unknown as NodeJS.WriteStream);
    line.show('judging rule 1 of 2');
    line.show('judging rule 2 of 2');
  }
  expect(written).toEqual(['\r\u{1b}[Kjudging rule 1 of 2', '\r\u{1b}[Kjudging rule 2 of 2', '\r\u{1b}[K']);
});
