import { expect, test } from 'vitest';
import { ConfigError } from '#kit/env/config-error';
import { isOwner, readDevelopmentPersons } from './development-persons.ts';

const issuer = 'http://issuer.test';
const persons = { issuer, tenant: 'default' };
const ann = { issuer, subject: 'ann' };
const owner = { issuer: 'development:default', subject: 'ann' };

test('the person of a tenant in development mode is the subject of the same name of the development issuer', () => {
  expect(isOwner(owner, ann, persons)).toBe(true);
  expect(isOwner(ann, ann, persons)).toBe(true);
});

test.each([
  ['without the setting', owner, ann, undefined],
  ['with another name', owner, { issuer, subject: 'bob' }, persons],
  ['of another issuer', owner, { issuer: 'http://other.test', subject: 'ann' }, persons],
  ['of another tenant', { issuer: 'development:other', subject: 'ann' }, ann, persons],
  ['whose agent has an owner of another issuer', { issuer: 'http://other.test', subject: 'ann' }, ann, persons],
])('a subject %s is not the owner of an agent', (_title, declared, caller, setting) => {
  expect(isOwner(declared, caller, setting)).toBe(false);
});

test('the setting for persons in development mode is an issuer and a tenant separated by a bar, or absent', () => {
  expect(readDevelopmentPersons(undefined)).toBeUndefined();
  expect(readDevelopmentPersons(`${issuer}|default`)).toEqual(persons);
  for (const text of ['default', '|default', `${issuer}|`]) {
    expect(() => readDevelopmentPersons(text)).toThrow(ConfigError);
  }
});
