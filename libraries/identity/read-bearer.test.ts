import { expect, test } from 'vitest';
import { readBearer } from './read-bearer.ts';

test.each<[string, readonly string[], object]>([
  ['none', ['Host', 'a'], { code: 'token_missing', status: 401 }],
  ['one', ['Host', 'a', 'Authorization', 'Bearer abc.def'], { kind: 'bearer', token: 'abc.def' }],
  ['a bearer scheme in another case', ['authorization', 'bearer  abc'], { kind: 'bearer', token: 'abc' }],
  ['two', ['Authorization', 'Bearer a', 'authorization', 'Bearer a'], { code: 'token_duplicate', status: 401 }],
  ['an empty one', ['Authorization', ' '], { code: 'token_missing', status: 401 }],
  ['another scheme', ['Authorization', 'Basic abc'], { code: 'token_malformed', status: 401 }],
  ['two tokens in one header', ['Authorization', 'Bearer a, Bearer b'], { code: 'token_malformed', status: 401 }],
])('%s', (_what, rawHeaders, expected) => {
  expect(readBearer(rawHeaders)).toMatchObject(expected);
});
