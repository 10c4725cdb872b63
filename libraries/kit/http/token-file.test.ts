import { mkdtempSync, renameSync, rmSync, symlinkSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createFakeClock, type FakeClock } from '../testing/fake-clock.ts';
import { openTokenFile, type TokenFile, TokenFileError } from './token-file.ts';

let folder: string;
let path: string;
let clock: FakeClock;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'token-file-'));
  path = join(folder, 'token');
  clock = createFakeClock();
});
afterEach(() => rmSync(folder, { recursive: true }));

function opened(text: string): TokenFile {
  writeFileSync(path, text);
  return openTokenFile(path, clock);
}
const fault = (run: () => unknown): unknown => {
  try {
    return run();
  } catch (error) {
    return error instanceof TokenFileError ? error.code : error;
  }
};

test.each([
  ['one\n', ['one'], 'one'],
  ['one', ['one'], 'one'],
  ['one\ntwo\n', ['one', 'two'], 'one'],
  ['\n \n  one  made today\r\n\ntwo\n\n', ['one', 'two'], 'one'],
])('a token file with the content %j accepts its tokens', (text, tokens, first) => {
  const file = opened(text);
  for (const token of tokens) expect(file.accepts(token)).toBe(true);
  for (const other of ['', 'on', 'onee', 'ONE', 'one ', 'made', 'one\ntwo']) expect(file.accepts(other)).toBe(false);
  expect(file.first()).toBe(first);
});

test.each([
  ['', 'empty'],
  [' \n\n\t', 'empty'],
  ['a\nb\nc\n', 'too_many_lines'],
])('a token file with the content %j is refused', (text, code) => {
  expect(fault(() => opened(text))).toBe(code);
});

test('a missing token file cannot be opened, and the error names it', () => {
  expect(() => openTokenFile(path)).toThrow(`token file ${path}: cannot be read`);
  expect(fault(() => openTokenFile(folder))).toBe('unreadable');
});

test('a rotation of a token file takes effect within a second, without a refused request', () => {
  const file = opened('old\n');
  writeFileSync(path, 'old\nnew\n');
  expect(file.accepts('new')).toBe(false);
  clock.advance(999);
  expect(file.accepts('new')).toBe(false);
  clock.advance(1);
  expect([file.accepts('old'), file.accepts('new'), file.first()]).toEqual([true, true, 'old']);
  writeFileSync(path, 'new\n');
  clock.advance(1000);
  expect([file.accepts('old'), file.accepts('new'), file.first()]).toEqual([false, true, 'new']);
});

test('a replaced token file of equal size and time is read again, like a mounted Secret', () => {
  const when = new Date('2026-01-01');
  const place = (name: string, token: string) => {
    writeFileSync(join(folder, name), token);
    utimesSync(join(folder, name), when, when);
  };
  place('v1', 'aaa');
  place('v2', 'bbb');
  symlinkSync('v1', path);
  const file = openTokenFile(path, clock);
  symlinkSync('v2', join(folder, 'next'));
  renameSync(join(folder, 'next'), path);
  clock.advance(1000);
  expect([file.accepts('aaa'), file.accepts('bbb')]).toEqual([false, true]);
});

test.each([
  ['vanishes', () => unlinkSync(path), 'unreadable'],
  ['becomes empty', () => writeFileSync(path, ''), 'empty'],
  ['gets a third token', () => writeFileSync(path, 'one\ntwo\nthree\n'), 'too_many_lines'],
])('a token file that %s accepts no token until it is valid again', (_how, spoil, code) => {
  const file = opened('one\n');
  spoil();
  clock.advance(1000);
  expect([file.accepts('one'), file.accepts(''), fault(() => file.first())]).toEqual([false, false, code]);
  writeFileSync(path, 'one\n');
  clock.advance(1000);
  expect([file.accepts('one'), file.first()]).toEqual([true, 'one']);
});
