import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createVerifier, type Verifier } from './create-verifier.ts';
import {
  createTestKey,
  type JwksServer,
  part,
  signText,
  startJwksServer,
  type TestKey,
} from './testing/test-issuer.ts';

const issuer = 'https://issuer.example';
const claims = { iss: issuer, sub: 'ann', aud: 'portcullis', exp: 4_000_000_000 };

let key: TestKey;
let server: JwksServer;
let verifier: Verifier;
let token: string;
beforeAll(async () => {
  key = await createTestKey('ES256', 'ec');
  server = await startJwksServer(key);
  verifier = createVerifier({ issuers: [{ issuer, audience: 'portcullis', jwks: server.url }] });
  token = await signText(key, JSON.stringify(claims));
});
afterAll(() => server[Symbol.asyncDispose]());

test('a token with any changed character is refused without an exception', async () => {
  expect(await verifier.verify(token)).toMatchObject({ kind: 'identity' });
  const character = fc.constantFrom(...'ABCabc019-_.=+/ \u0000é{}"');
  const edit = fc.tuple(fc.nat(token.length), fc.nat(3), fc.string({ unit: character, maxLength: 4 }));
  await fc.assert(
    fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 3 }), async (edits) => {
      const changed = edits.reduce(
        (text, [at, gone, added]) => text.slice(0, at) + added + text.slice(at + gone),
        token,
      );
      fc.pre(changed !== token);
      expect(await verifier.verify(changed)).toMatchObject({ kind: 'refusal', status: 401 });
    }),
    { numRuns: 2_000 },
  );
});

test('signed claims of any shape yield a well-formed identity or an error', async () => {
  const anything = fc.oneof(fc.jsonValue(), fc.constantFrom(...Object.values(claims)), fc.constant({ sub: 'a' }));
  const names = ['iss', 'sub', 'aud', 'exp', 'nbf', 'iat', 'jti', 'act', '__proto__', 'constructor'];
  const change = fc.dictionary(fc.constantFrom(...names), anything, { maxKeys: 3, noNullPrototype: true });
  await fc.assert(
    fc.asyncProperty(change, async (changed) => {
      const text = JSON.stringify({ ...claims, ...changed });
      const found = await verifier.verify(await signText(key, text));
      if (found.kind === 'refusal') {
        expect(found.status).toBe(401);
        return;
      }
      expect(found.issuer).toBe(issuer);
      expect(found.subject.length).toBeGreaterThan(0);
      for (const actor of found.actors) expect(typeof actor.subject).toBe('string');
      expect(Number.isNaN(found.expiresAt.getTime())).toBe(false);
    }),
    { numRuns: 1_000, examples: [[{ iss: { toString: false } }]] },
  );
});

test('headers of any shape are refused or verified with the signing key', async () => {
  const header = fc.record(
    {
      alg: fc.constantFrom('ES256', 'none', 'HS256', 'RS256'),
      kid: fc.jsonValue(),
      typ: fc.jsonValue(),
      crit: fc.jsonValue(),
    },
    { requiredKeys: [] },
  );
  await fc.assert(
    fc.asyncProperty(header, async (made) => {
      const [, body, signature] = token.split('.');
      expect(await verifier.verify(`${part(made)}.${body}.${signature}`)).toMatchObject({
        kind: 'refusal',
        status: 401,
      });
    }),
    { numRuns: 1_000 },
  );
});
