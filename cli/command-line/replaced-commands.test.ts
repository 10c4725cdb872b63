import { expect, test } from 'vitest';
import { replacementOf } from './replaced-commands.ts';

test.each([
  [['binding', 'apply', 'chat', '2'], 'apply-revision chat 2'],
  [['binding', 'apply', 'chat'], 'apply-revision chat REVISION'],
  [['binding', 'apply'], 'apply-revision BINDING REVISION'],
  [['binding', 'apply', 'chat', '2', 'more'], 'apply-revision BINDING REVISION'],
  [['binding', 'apply', 'chat', '--wait'], 'apply-revision BINDING REVISION'],
  [['binding', 'apply', 'two words', '2'], 'apply-revision BINDING REVISION'],
  [['binding', 'history', 'chat'], 'history binding/chat'],
  [['policy', 'list'], 'get guardrailpolicies'],
  [['rm', 'gp', 'FILE'], 'delete gp FILE'],
])('the command that replaces %j is %s, with the words of the reader where they fit', (typed, by) => {
  expect(replacementOf(typed)?.by).toBe(by);
});

test('a word that was never a command has no replacement', () => {
  expect(replacementOf(['frobnicate', 'chat'])).toBeUndefined();
});
