import { expect, test } from 'vitest';
import { documentLabels, isEmptyAcl, readPrincipal, userLabel } from './document-labels.ts';

const issuer = 'https://issuer.example';
const caller = { tenant: 'acme', user: { issuer, subject: 'ann' }, issuers: [issuer, 'https://other.example'] };

test.each([
  [undefined, true],
  [{}, true],
  [{ groups: [], principals: [] }, true],
  [{ scope: { a: 1 } }, true],
  [{ groups: ['g'] }, false],
  [{ principals: ['p'] }, false],
])('whether the access list %j is empty: %s', (acl, expected) => {
  expect(isEmptyAcl(acl)).toBe(expected);
});

test.each([
  ['ann', { issuer, subject: 'ann' }],
  ['https://other.example|ann', { issuer: 'https://other.example', subject: 'ann' }],
  ['auth0|7', { issuer, subject: 'auth0|7' }],
  ['https://unknown.example|ann', { issuer, subject: 'https://unknown.example|ann' }],
  ['https://other.example|', { issuer, subject: 'https://other.example|' }],
])('the principal %s is read with the issuers of the tenant', (text, expected) => {
  expect(readPrincipal(text, caller)).toEqual(expected);
});

test('no group or principal becomes the label of an owner or the public label', () => {
  const acl = { groups: ['owner', 'public'], principals: ['owner', 'public'] };
  const labels = documentLabels(acl, { visibility: 'public' }, caller);
  expect(labels).not.toContain('owner');
  expect(labels).not.toContain('public');
  expect(labels).toHaveLength(4);
});

test('a user label of 512 characters is kept, and a longer one is hashed', () => {
  const subject = 'a'.repeat(512 - 'user:i|'.length);
  expect(userLabel({ issuer: 'i', subject })).toBe(`user:i|${subject}`);
  expect(userLabel({ issuer: 'i', subject: `${subject}a` })).toMatch(/^user:\|\|[0-9a-f]{64}$/);
});
