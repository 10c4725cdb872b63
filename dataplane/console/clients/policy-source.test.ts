import { describe, expect, test } from 'vitest';
import { readPolicyForm } from './policy-form.ts';
import { readPolicySource, readRecipes } from './policy-source.ts';

const secrets = readRecipes().get('secrets') ?? '';

describe('the source of a policy', () => {
  test.each([...readRecipes()])('the policy source of the recipe %s is read', (_name, text) => {
    expect(readPolicySource(text)).toMatchObject({ ok: true });
  });

  test.each([
    ['a repeated name', `${secrets}name: again\n`, 'the name name is repeated'],
    ['a repeated name below others', 'a:\n  - b: 1\n    b: 2\n', 'the name b is repeated'],
    ['an alias', 'name: &a x\ndescription: *a\n', 'the text uses aliases of YAML: write the values out'],
    [
      'a fault',
      'name: "\\q"\n',
      'the text is not valid YAML (bad dq escape): Invalid escape sequence \\q at line 1, column 8',
    ],
    ['more than 1,500,000 characters', `# ${'x'.repeat(1_500_000)}`, 'the text is too long'],
  ])('%s is refused with its reason', (_name, text, problem) => {
    expect(readPolicySource(text)).toEqual({ ok: false, problems: [problem] });
  });

  test('a text with many faults lists the first 20', () => {
    const read = readPolicySource('"\\q"\n'.repeat(100));
    expect(read.ok ? 0 : read.problems.length).toBe(20);
  });

  test('a text that is nested deeper than the parser reads is refused', () => {
    expect(readPolicySource('- '.repeat(20_000))).toMatchObject({ ok: false });
  });

  // Comparing each pair of names would take minutes and delay the pages of all other users.
  test.each([
    ['the editor', (text: string) => expect(readPolicySource(text)).toMatchObject({ ok: false })],
    ['the form', (text: string) => expect(readPolicyForm(text)).toBeUndefined()],
  ])('the time to read a mapping for %s does not grow with the square of its number of names', (_, read) => {
    const cpuOf = (names: number): number => {
      const text = Array.from({ length: names }, (__, at) => `${at}:\n`).join('');
      const begun = process.cpuUsage();
      read(text);
      const { user, system } = process.cpuUsage(begun);
      return user + system;
    };
    cpuOf(15_000);
    // Eight times as many names: eight times the work, or 64 times if each pair is compared.
    expect(cpuOf(120_000) / cpuOf(15_000)).toBeLessThan(32);
  });
});
