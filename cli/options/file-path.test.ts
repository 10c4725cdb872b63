import { expect, test } from 'vitest';
import { readFilePath } from './file-path.ts';

test.each([
  ['notes.txt', { file: 'notes.txt' }],
  ['photo=a.png', { photo: 'a.png' }],
  ['./a=b.txt', { file: './a=b.txt' }],
  ['photo=x=y.png', { photo: 'x=y.png' }],
  ['2=y.png', { file: '2=y.png' }],
])('the option %s names a member of the input and a path', (text, paths) => {
  expect(readFilePath(text)).toEqual(paths);
});

test('each use of the option names another member', () => {
  expect(readFilePath('photo=a.png', readFilePath('notes.txt'))).toEqual({ file: 'notes.txt', photo: 'a.png' });
  expect(() => readFilePath('file=a.txt', readFilePath('notes.txt'))).toThrow('has a file already');
  for (const empty of ['', 'photo=']) expect(() => readFilePath(empty)).toThrow('MEMBER=PATH');
});
