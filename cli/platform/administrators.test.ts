import { userInfo } from 'node:os';
import { expect, test } from 'vitest';
import { firstAdministrators, firstSubject } from './administrators.ts';

const issuer = 'http://issuer.portcullis.localhost';
const byDefault = [`${issuer}|${userInfo().username}`, 'development:default|ann'];

test.each([
  [undefined, byDefault],
  ['', byDefault],
  [' , ', byDefault],
  ['ann', [`${issuer}|ann`]],
  ['ann, https://other.example|bob', [`${issuer}|ann`, 'https://other.example|bob']],
])('the first administrators are read from %j', (listed, expected) => {
  expect(firstAdministrators(listed ?? '')).toEqual(expected);
});

test('the default subject of portcullis token is the first administrator of the development issuer', () => {
  expect(firstSubject(['https://other.example|bob', `${issuer}|ann`, `${issuer}|eve`])).toBe('ann');
  expect(firstSubject(['https://other.example|bob'])).toBeUndefined();
});
