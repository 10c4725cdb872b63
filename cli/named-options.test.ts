import { expect, test } from 'vitest';
import { createCommandLine } from './program.ts';
import { foreignOptions } from './testing/foreign-options.ts';
import { leavesOf } from './testing/leaves-of.ts';
import { folderWithFiles, runInProcess } from './testing/run-cli.ts';

/** The commands that act for a person, each with the words that it requires. */
const ofPersons = leavesOf(await createCommandLine())
  .filter(([, { options }]) => options.some(({ long }) => long === '--as'))
  .map(([words, { options, registeredArguments }]) => [
    words,
    [
      ...words.split(' '),
      ...registeredArguments.filter(({ required }) => required).map(() => '00000000-0000-7000-8000-000000000001'),
      ...options.filter(({ mandatory }) => mandatory).flatMap(({ long }) => [long ?? '', '1']),
    ],
  ]) as readonly (readonly [string, readonly string[]])[];

test.each(ofPersons)('the message of %s without a person names options of this command only', async (_, args) => {
  using folder = folderWithFiles();
  const { code, stderr } = await runInProcess(args, { data: folder.path });
  expect(code).not.toBe(0);
  expect(await foreignOptions('portcullis', args, stderr)).toEqual([]);
});

test.each(['agent send', 'agent chat', 'agent runs', 'agent trace'])(
  '%s without a person names both ways to name a person',
  async (words) => {
    const args = [...words.split(' '), 'assistant', ...(words === 'agent trace' ? ['a-run'] : [])];
    expect(await runInProcess(args)).toMatchObject({
      code: 2,
      stderr: `portcullis: "${words}" needs the person who calls: --as PERSON, or set PORTCULLIS_AS.\n`,
    });
  },
);

test.each([
  ['Name the caller: --as PERSON, else --token-file FILE.', ['--token-file']],
  ['Name the caller: --as PERSON.', []],
  ['Choose another port with --port.', ['--port']],
  ['The platform does not run: start it with --port 8080.', []],
  ['"portcullis retry" repeats it.', ['"portcullis retry": no command retry']],
  ['"portcullis up --ports 1" starts it.', ['"portcullis up --ports 1": no option --ports']],
  ['"portcullis up --port 1" starts it.', []],
  ['There is no option --groop. Did you mean --groups?', []],
])('an option that a message names is compared with the options of the command: %s', async (message, foreign) => {
  expect(await foreignOptions('portcullis', ['agent', 'send', '--groop'], message)).toEqual(foreign);
});
