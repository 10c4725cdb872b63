import { expect, test } from 'vitest';
import { acceptTokenScheme } from './accept-token-scheme.ts';

test.each([
  ['Token abc.def', 'Bearer abc.def'],
  ['token  abc=', 'Bearer abc='],
  ['Bearer abc', 'Bearer abc'],
  ['Token a b', 'Token a b'],
  ['Token ', 'Token '],
  ['Basic Token abc', 'Basic Token abc'],
])('the authorization header "%s" is read as "%s"', async (sent, read) => {
  let seen: readonly string[] = [];
  const authorizer = acceptTokenScheme({
    async authorize(rawHeaders) {
      seen = rawHeaders;
      return { kind: 'error', code: 'unauthorized' };
    },
  });
  await authorizer.authorize(['X-Other', 'Token abc', 'Authorization', sent]);
  expect(seen).toEqual(['X-Other', 'Token abc', 'Authorization', read]);
});
