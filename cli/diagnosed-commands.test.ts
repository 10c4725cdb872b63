import { describe, expect, test } from 'vitest';
import { advice, adviceFor } from '#diagnosis/advice';
import { type NamedCommand, programs, refusalOf } from './testing/refusal-of.ts';

/** The commands in a text: a command ends with a quotation mark, a bracket or a sentence. */
function commandsIn(text: string): readonly NamedCommand[] {
  return [...text.matchAll(/(kubectl )?portcullis ([^"()]+?)(?=["()]|[.,;:]( |$)|$)/g)].map(
    ([, kubectl, words = '']) => ({
      program: kubectl === undefined ? 'portcullis' : 'kubectl portcullis',
      words: words.trim().split(' '),
    }),
  );
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
