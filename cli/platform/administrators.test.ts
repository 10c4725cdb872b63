import { userInfo } from 'node:os';
import { expect, test } from 'vitest';
import { firstAdministrators, firstSubject } from './administrators.ts';

const issuer = 'http://issuer.portcullis.localhost';

test.each([
  [undefined, [`${issuer}|${userInfo().username}`]],
  ['', [`${issuer}|${userInfo().username}`]],
  [' , ', [`${issuer}|${userInfo().username}`]],
  ['ann', [`${issuer}|ann`]],
  ['ann, https://other.example|bob', [`${issuer}|ann`, 'https://other.example|bob']],
])('administrators from %j', (listed, expected) => {
  expect(firstAdministrators(listed ?? '')).toEqual(expected);
});

test('the subject of a default token is the first one of the development issuer', () => {
  expect(firstSubject(['https://other.example|bob', `${issuer}|ann`, `${issuer}|eve`])).toBe('ann');
  expect(firstSubject(['https://other.example|bob'])).toBeUndefined();
});
