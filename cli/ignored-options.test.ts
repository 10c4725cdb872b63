import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runPlugin } from './kubectl/program.ts';
import { checkout } from './platform/data-directory.ts';
import { folderWithFiles, runInProcess } from './testing/run-cli.ts';

const example = join(checkout, 'examples/guarded-chat');
const key = ['--via', 'api', '--idempotency-key', 'a-key-of-this-test'];

test.each([
  [['get', 'mb', '--watch', '--sort-by', '.metadata.name'], 'leave out --sort-by'],
  [['provider', 'test', '--binding', 'guarded-echo', '--model', 'large'], 'leave out --model'],
  [['apply', '-f', example, ...key], '--idempotency-key is the key of one command, and this would be 2'],
  [['reapply', 'guarded-echo', '--override-freeze'], 'add --via api'],
])('an option that the command would ignore is refused before a request is sent: %j', async (words, sentence) => {
  const end = await runInProcess(words);
  expect(end).toMatchObject({ code: 2, stdout: '' });
  expect(end.stderr).toContain(sentence);
});

test.each(['json', 'yaml', 'wide', 'name', 'jsonpath={.kind}'])(
  'kubectl portcullis backup -o %s is refused, because -o names a file there',
  async (format) => {
    using folder = folderWithFiles();
    const before = readdirSync(checkout);
    const end = await runInProcess(['backup', '-o', format, '--kubeconfig', folder.write('kubeconfig', '{}')], {
      program: runPlugin,
    });
    expect(end).toMatchObject({ code: 2, stdout: '' });
    expect(end.stderr).toContain(`It is the file of a backup, which is always JSON: give a path`);
    expect(readdirSync(checkout)).toEqual(before);
    expect(existsSync(format)).toBe(false);
  },
);

test('the help of rollback says that a rollback of a binding asks for no confirmation, and the help of --dry-run that it does not wait', async () => {
  const { stdout } = await runInProcess(['rollback', '--help']);
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain('a rollback of a binding does not ask');
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain('change nothing and do not wait');
});
