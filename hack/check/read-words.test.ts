import { expect, test } from 'vitest';
import { readWords } from './read-words.ts';

const wanted = { usage: 'npm run x -- [NAME...] [--small]', names: ['a', 'b'], switches: ['small'] };

test('check arguments are read as names and switches in any order', () => {
  expect(readWords([], wanted)).toEqual({ kind: 'run', names: [], switches: new Set() });
  expect(readWords(['b', '--small', 'a'], wanted)).toEqual({
    kind: 'run',
    names: ['b', 'a'],
    switches: new Set(['small']),
  });
});

test('the --help argument of npm test prints the usage, even after a name', () => {
  const text = 'Usage: npm run x -- [NAME...] [--small]\nNames: a, b';
  expect(readWords(['a', '--help'], wanted)).toEqual({ kind: 'say', text, exitCode: 0 });
  expect(readWords(['--help'], { usage: 'npm run y' })).toEqual({ kind: 'say', text: 'Usage: npm run y', exitCode: 0 });
});

test.each(['c', '--smal', '--no-small', '--small=yes', '-s'])(
  'the unknown argument %s is refused with exit code 2',
  (word) => {
    expect(readWords(['a', word], wanted)).toMatchObject({ kind: 'say', exitCode: 2 });
  },
);
