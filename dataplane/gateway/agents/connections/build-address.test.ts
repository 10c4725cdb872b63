import { describe, expect, test } from 'vitest';
import { buildAddress } from './build-address.ts';
import { ConnectionError } from './connection-error.ts';

const base = new URL('https://crm.example/api/');
const built = (path: string, query: Readonly<Record<string, string>> = {}): string => {
  try {
    return buildAddress(base, { path, query }).href;
  } catch (error) {
    if (error instanceof ConnectionError) return error.code;
    throw error;
  }
};

describe('addresses of calls of connections', () => {
  test.each([
    ['/', 'https://crm.example/api/'],
    ['/people/7', 'https://crm.example/api/people/7'],
    ['/people/7/', 'https://crm.example/api/people/7/'],
    ['/people/a%20b', 'https://crm.example/api/people/a%20b'],
    ['/people/a%2Fb', 'https://crm.example/api/people/a%2Fb'],
    ['/people/a%3Fb', 'https://crm.example/api/people/a%3Fb'],
    ['/people/..b', 'https://crm.example/api/people/..b'],
  ])('the connection path %s is below the base URL', (path, address) => {
    expect(built(path)).toBe(address);
  });

  test.each([
    'people',
    '//evil.example/x',
    '/a//b',
    '/../admin',
    '/a/./b',
    '/a/%2e%2e/b',
    '/a/..%2fadmin',
    '/a/%2E%2e%5Cadmin',
    '/a?b=c',
    '/a#b',
    '/a\\b',
    '/a b',
    '/a%',
    '/a%0ab',
    '/%ff',
    '/ü',
    '/@evil.example/..',
  ])('the connection path %j is refused', (path) => {
    expect(built(path)).toBe('invalid_request');
  });

  test('values of the query are encoded, and at most 64 names are accepted', () => {
    expect(built('/p', { q: 'a&b=c #d', r: '' })).toBe('https://crm.example/api/p?q=a%26b%3Dc+%23d&r=');
    const names = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`n${at}`, 'v']));
    expect(built('/p', names(64))).toContain('n63=v');
    expect(built('/p', names(65))).toBe('invalid_request');
  });
});
