import { expect, test } from 'vitest';
import { readBearer } from './read-bearer.ts';

test.each<[string, readonly string[], object]>([
  ['no header', ['Host', 'a'], { code: 'token_missing', status: 401 }],
  ['one header', ['Host', 'a', 'Authorization', 'Bearer abc.def'], { kind: 'bearer', token: 'abc.def' }],
  ['a bearer scheme in another case', ['authorization', 'bearer  abc'], { kind: 'bearer', token: 'abc' }],
  ['two headers', ['Authorization', 'Bearer a', 'authorization', 'Bearer a'], { code: 'token_duplicate', status: 401 }],
  ['an empty header', ['Authorization', ' '], { code: 'token_missing', status: 401 }],
  ['another scheme', ['Authorization', 'Basic abc'], { code: 'token_malformed', status: 401 }],
  ['two tokens in one header', ['Authorization', 'Bearer a, Bearer b'], { code: 'token_malformed', status: 401 }],
])('a request with %s as Authorization is read as specified', (_what, rawHeaders, expected) => {
  expect(readBearer(rawHeaders)).toMatchObject(expected);
});
