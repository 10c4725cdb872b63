import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { advice, adviceFor } from '#diagnosis/advice';
import { createPlugin } from './kubectl/program.ts';
import { createCommandLine } from './program.ts';

const programs: Readonly<Record<string, () => Promise<Command>>> = {
  portcullis: createCommandLine,
  'kubectl portcullis': createPlugin,
};

type Named = { readonly program: string; readonly words: readonly string[] };

/** The commands in a text: a command ends with a quotation mark, a bracket or a sentence. */
function commandsIn(text: string): readonly Named[] {
  return [...text.matchAll(/(kubectl )?portcullis ([^"()]+?)(?=["()]|[.,;:]( |$)|$)/g)].map(
    ([, kubectl, words = '']) => ({
      program: kubectl === undefined ? 'portcullis' : 'kubectl portcullis',
      words: words.trim().split(' '),
    }),
  );
}

/** The problem of a command line that the program would refuse; undefined for one that it accepts. */
async function refusalOf({ program, words }: Named): Promise<string | undefined> {
  const create = programs[program];
  if (create === undefined) return 'no such program';
  let command = await create();
  const rest = [...words];
  for (let sub: Command | undefined; ; rest.shift()) {
    sub = command.commands.find((one) => one.name() === rest[0]);
    if (sub === undefined) break;
    command = sub;
  }
  if (command.commands.length > 0 || command.parent === null) return `no command ${rest[0] ?? ''}`;
  const { operands, unknown } = command.parseOptions(rest);
  if (unknown.length > 0) return `no option ${unknown[0]}`;
  const given = command.opts();
  const absent = command.options.find((option) => option.mandatory && given[option.attributeName()] === undefined);
  if (absent !== undefined) return `without the option ${absent.flags}`;
  const { registeredArguments: all } = command;
  const isList = all.at(-1)?.variadic === true;
  if (operands.length > all.length && !isList) return `one argument too many: ${operands[all.length]}`;
  if (operands.length < all.filter(({ required }) => required).length) return 'an argument is missing';
  return undefined;
}

describe('the remedies', () => {
  test.each(Object.keys(programs))(
    'every command that a remedy of %s names exists with its options and arguments',
    async (program) => {
      const named = Object.keys(advice).flatMap((reason) =>
        commandsIn(adviceFor(reason, { program, binding: 'chat', policy: 'guard' })).map((one) => ({ reason, ...one })),
      );
      expect(named.length).toBeGreaterThan(30);
      const checked = named.map(async (one) => ({
        reason: one.reason,
        line: `${one.program} ${one.words.join(' ')}`,
        refusal: await refusalOf(one),
      }));
      expect((await Promise.all(checked)).filter(({ refusal }) => refusal !== undefined)).toEqual([]);
    },
  );

  test('a remedy of the kubectl plugin names another program only where the plugin has no such command', async () => {
    const names = { program: 'kubectl portcullis', binding: 'chat', policy: 'guard' };
    const others = Object.keys(advice)
      .flatMap((reason) => commandsIn(adviceFor(reason, names)))
      .filter(({ program }) => program === 'portcullis');
    expect(others.length).toBeGreaterThan(0);
    for (const { words } of others) {
      expect([words, await refusalOf({ program: names.program, words })]).not.toEqual([words, undefined]);
    }
  });

  test.each([
    ['kubectl portcullis chat x', 'no command chat'],
    ['kubectl portcullis provider test --binding chat', 'without the option --server <url>'],
    ['portcullis history', 'an argument is missing'],
    ['portcullis reapply chat more', 'one argument too many: more'],
    ['portcullis provider test --bindings chat', 'no option --bindings'],
    ['portcullis provider', 'no command '],
    ['portcullis reapply chat', undefined],
  ])('a command in an advice is checked, %s: %s', async (line, refusal) => {
    const [named] = commandsIn(`See "${line}" now.`);
    expect(named === undefined ? 'not found' : await refusalOf(named)).toBe(refusal);
  });
});
