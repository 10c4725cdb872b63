import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { createPlugin } from '../kubectl/program.ts';
import { createCommandLine } from '../program.ts';
import { programs as programsByName, refusalOf } from '../testing/refusal-of.ts';
import { runInProcess } from '../testing/run-cli.ts';
import { exampleOf } from './examples.ts';

const programs = [await createCommandLine(), await createPlugin()] as const;

/** The commands that have an action, with their words. */
function leaves(command: Command, words: readonly string[] = []): readonly (readonly string[])[] {
  return command.commands.length === 0
    ? [words]
    : command.commands.flatMap((sub) => leaves(sub, [...words, sub.name()]));
}

const longestLine = (text: string): number => Math.max(...text.split('\n').map((line) => line.length));
const help = (args: readonly string[], environment: Readonly<Record<string, string>> = {}) =>
  runInProcess([...args, '--help'], { environment: { COLUMNS: '', ...environment } });
const escapeCode = String.fromCharCode(27);

test.each(programs)('the help of %# lists every command under the heading of its group', (program) => {
  const groups = program.commands.map((command) => command.helpGroup());
  expect(new Set(groups).size).toBeGreaterThan(3);
  expect(groups).not.toContain('');
});

test.each([
  ['portcullis', createCommandLine],
  ['kubectl portcullis', createPlugin],
] as const)(
  'each command of %s can be built alone, with the same help as in the complete program',
  async (_, create) => {
    for (const command of (await create()).commands) {
      const { commands } = await create(command.name());
      expect(commands.map((one) => one.name())).toEqual([command.name()]);
      expect(commands[0]?.helpInformation()).toBe(command.helpInformation());
    }
  },
);

test.each(programs)('the help of each command of program %# ends with an example that calls it', (program) => {
  for (const words of leaves(program)) {
    let text = '';
    const command = words.reduce<Command>((at, word) => at.commands.find((sub) => sub.name() === word) ?? at, program);
    command.configureOutput({ writeOut: (piece) => (text += piece) }).outputHelp();
    expect(text.split('\nExample:\n')[1]).toMatch(
      new RegExp(`^ {2}(eval ".)?[(]?${program.name()} ${words.join(' ')}\\b`),
    );
  }
});

test.each(Object.keys(programsByName))(
  'every example in the help of %s is a command line that it accepts',
  async (name) => {
    const program = await programsByName[name]?.();
    if (program === undefined) throw new Error(`no program ${name}`);
    const refused = [];
    for (const words of leaves(program)) {
      const example = exampleOf(name, words.join(' ')) ?? '';
      const line = example.replace(/^eval "\$\((.*)\)"$/, '$1').slice(name.length + 1);
      const given = (line.match(/"[^"]*"|'[^']*'|[^\s"']+/g) ?? []).map((word) => word.replace(/^["']|["']$/g, ''));
      refused.push([example, await refusalOf({ program: name, words: given })]);
    }
    expect(refused.filter(([, refusal]) => refusal !== undefined)).toEqual([]);
  },
);

test.each([
  ['', 80],
  ['60', 60],
  ['132', 132],
  ['nonsense', 80],
])('the help with COLUMNS=%j has lines of at most %i characters', async (columns, most) => {
  for (const args of [[], ['operation'], ['status'], ['completion']]) {
    const { stdout, code } = await help(args, { COLUMNS: columns });
    expect(code).toBe(0);
    expect(longestLine(stdout)).toBeLessThanOrEqual(most);
  }
  const { stdout } = await help([], { COLUMNS: columns });
  expect(longestLine(stdout)).toBeGreaterThan(most - 20);
});

test.each([
  [{}, [], false],
  [{ FORCE_COLOR: '1' }, [], true],
  [{ FORCE_COLOR: '0' }, [], false],
  [{ NO_COLOR: '1' }, [], false],
  [{ FORCE_COLOR: '1' }, ['--no-color'], false],
  [{ FORCE_COLOR: '1' }, ['status', '--no-color'], false],
] as const)(
  'help that is not written to a terminal, with %j and %j, has colours: %s',
  async (environment, args, colours) => {
    const plain = { FORCE_COLOR: undefined, NO_COLOR: undefined } as unknown as Record<string, string>;
    expect((await help(args, { ...plain, ...environment })).stdout.includes(escapeCode)).toBe(colours);
  },
);

test('an error is coloured where colours are enabled, and its text stays the same', async () => {
  const { stderr } = await runInProcess(['nonsense'], { environment: { FORCE_COLOR: '1' } });
  expect(stderr).toContain(escapeCode);
  const plain = await runInProcess(['--no-color', 'nonsense'], { environment: { FORCE_COLOR: '1' } });
  expect(plain.stderr).toMatch(/^portcullis: There is no command/);
});
