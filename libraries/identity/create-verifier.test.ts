import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createFakeClock } from '#kit/testing/fake-clock';
import { until } from '#kit/testing/until';
import { createVerifier, type Identity, type TokenError } from './create-verifier.ts';
import {
  createTestKey,
  type JwksServer,
  part,
  signText,
  signWithPublicKey,
  startJwksServer,
  type TestKey,
} from './testing/test-issuer.ts';

const issuer = 'https://issuer.example';
const audience = 'portcullis';
const clock = createFakeClock();
const now = clock.date().getTime() / 1_000;
const good = { iss: issuer, sub: 'ann', aud: audience, exp: now + 300 };

let rsa: TestKey;
let ec: TestKey;
let ed: TestKey;
let stranger: TestKey;
let server: JwksServer;
beforeAll(async () => {
  [rsa, ec, ed, stranger] = (await Promise.all([
    createTestKey('RS256', 'rsa'),
    createTestKey('ES256', 'ec'),
    createTestKey('EdDSA', 'ed'),
    createTestKey('ES256', 'ec'),
  ])) as [TestKey, TestKey, TestKey, TestKey];
  server = await startJwksServer(rsa, ec, ed);
});
afterAll(() => server[Symbol.asyncDispose]());

const verifierOf = (jwks: URL = server.url, at = clock) =>
  createVerifier({ issuers: [{ issuer, audience, jwks }], clock: at });
const verify = (token: string): Promise<Identity | TokenError> => verifierOf().verify(token);
const outcome = async (token: string): Promise<string> => {
  const found = await verify(token);
  return found.kind === 'identity' ? 'identity' : `${found.status} ${found.code}`;
};
const signed = (claims: object, header: Record<string, unknown> = {}, key = ec): Promise<string> =>
  signText(key, JSON.stringify(claims), header);

test.each([
  ['maximum age', { maxAgeSeconds: 60 }, { iat: now - 89 }, { iat: now - 90 }],
  ['authorized party', { authorizedParties: ['portal'] }, { azp: 'portal' }, { azp: 'other' }],
  ['scope', { scope: 'policies' }, { scope: 'openid policies' }, { scope: 'openid' }],
] as const)(
  'a verifier refuses a signed token without the %s that its issuer demands',
  async (_what, tokens, met, unmet) => {
    const verifier = createVerifier({ issuers: [{ issuer, audience, jwks: server.url, tokens }], clock });
    expect(await verifier.verify(await signed({ ...good, ...met }))).toMatchObject({ kind: 'identity' });
    expect(await verifier.verify(await signed({ ...good, ...unmet }))).toMatchObject({ kind: 'refusal', status: 401 });
    expect(await outcome(await signed({ ...good, ...unmet }))).toBe('identity');
  },
);

describe('accepted tokens', () => {
  test.each(['RS256', 'ES256', 'EdDSA'])('a token signed with %s is accepted', async (alg) => {
    const key = [rsa, ec, ed].find((one) => one.alg === alg) as TestKey;
    expect(await verify(await signed({ ...good, jti: 'j1', iat: now, nbf: now }, {}, key))).toEqual({
      kind: 'identity',
      issuer,
      subject: 'ann',
      actors: [],
      groups: [],
      tenants: [],
      audience,
      expiresAt: new Date((now + 300) * 1_000),
      tokenId: 'j1',
    });
  });

  test.each<[string, object, Record<string, unknown>]>([
    ['several audiences', { ...good, aud: ['other', audience] }, {}],
    ['typ JWT', good, { typ: 'JWT' }],
    ['a token with typ at+jwt in another case', good, { typ: 'AT+JWT' }],
    ['a token without a kid, when the issuer has one key of the algorithm', good, { kid: undefined }],
    ['unknown claims', { ...good, scope: 'a', azp: 'b', constructor: 1 }, {}],
    ['the longest subject', { ...good, sub: 'a'.repeat(255) }, {}],
    ['a token with a subject in another alphabet', { ...good, sub: 'Анна Ω 𝒳' }, {}],
    [
      'a token with keys and key URLs in its header, which are ignored',
      good,
      { jku: 'http://127.0.0.1:1/', x5u: 'http://127.0.0.1:1/', jwk: { kty: 'oct', k: 'AAAA' } },
    ],
  ])('%s is accepted', async (_what, claims, header) => {
    expect(await outcome(await signed(claims, header))).toBe('identity');
  });

  test('a token without a kid is verified with each key of its algorithm', async () => {
    await using several = await startJwksServer(stranger, ec, await createTestKey('ES256', 'third'));
    const token = await signed(good, { kid: undefined });
    expect(await verifierOf(several.url).verify(token)).toMatchObject({ kind: 'identity' });
    const other = await signed(good, { kid: undefined }, await createTestKey('ES256', 'fourth'));
    expect(await verifierOf(several.url).verify(other)).toMatchObject({ code: 'signature_wrong' });
  });

  test('the act chain is returned with the direct caller first, each actor with its issuer', async () => {
    const act = {
      sub: 'agent-2',
      act: { sub: 'agent-1', iss: 'https://other.example', act: { sub: 'portal', exp: 1 } },
    };
    expect(await verify(await signed({ ...good, act }))).toMatchObject({
      subject: 'ann',
      actors: [
        { issuer, subject: 'agent-2' },
        { issuer: 'https://other.example', subject: 'agent-1' },
        { issuer, subject: 'portal' },
      ],
    });
  });
});

describe('malformed tokens', () => {
  test.each([
    ['nothing', ''],
    ['text', 'hello'],
    ['two parts', 'a.b'],
    ['four parts', 'a.b.c.d'],
    ['a token of five parts (encrypted)', `${part({ alg: 'RSA-OAEP', enc: 'A256GCM' })}.a.b.c.d`],
    ['a token whose header is not an object', `${part('[]')}.${part(good)}.AAAA`],
    ['a token whose header is not JSON', `${part('{')}.${part(good)}.AAAA`],
    ['a token whose claims are not an object', `${part({ alg: 'ES256' })}.${part('"a"')}.AAAA`],
    ['no UTF-8', `${part({ alg: 'ES256' })}.${Buffer.from([0x7b, 0xff, 0x7d]).toString('base64url')}.AAAA`],
    ['a byte order mark', `${part({ alg: 'ES256' })}.${part('\ufeff{}')}.AAAA`],
    ['padding', `${part({ alg: 'ES256' })}=.${part(good)}.AAAA`],
    ['a token in the other base64 alphabet', `${part({ alg: 'ES256' })}.${part(good)}.AA+/`],
    ['a line end', `${part({ alg: 'ES256' })}.${part(good)}.AAAA\n`],
  ])('a token that is malformed is refused: %s', async (_what, token) => {
    expect(await outcome(token)).toBe('401 token_malformed');
  });

  test('a non-canonical spelling of a signature is refused', async () => {
    const token = await signed(good);
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const last = alphabet.indexOf(token.at(-1) as string);
    const spelled = `${token.slice(0, -1)}${alphabet[last ^ 1]}`;
    expect(Buffer.from(spelled.split('.')[2] as string, 'base64url')).toEqual(
      Buffer.from(token.split('.')[2] as string, 'base64url'),
    );
    expect([await outcome(token), await outcome(spelled)]).toEqual(['identity', '401 token_malformed']);
  });

  test.each([
    ['iss', `{"iss":"https://evil.example","iss":"${issuer}"`],
    ['sub', `{"iss":"${issuer}","sub":"root"`],
    ['a duplicate claim in escaped form', `{"iss":"${issuer}","s\\u0075b":"root"`],
    ['a claim deep inside', `{"iss":"${issuer}","x":{"a":1,"a":2}`],
  ])('a validly signed token with a duplicate claim is refused: %s', async (_what, start) => {
    const text = `${start},"sub":"ann","aud":"${audience}","exp":${now + 300}}`;
    expect(await outcome(await signText(ec, text))).toBe('401 token_malformed');
  });

  test('a token of 8192 characters is accepted, and a longer token is refused', async () => {
    const room = 8_192 - (await signed({ ...good, pad: '' })).length;
    const fill = Math.floor((room * 3) / 4);
    let pad = '';
    for (let size = fill - 3; size <= fill + 3; size += 1) {
      if ((await signed({ ...good, pad: 'x'.repeat(size) })).length <= 8_192) pad = 'x'.repeat(size);
    }
    const largest = await signed({ ...good, pad });
    expect(largest.length).toBeGreaterThan(8_185);
    expect(await outcome(largest)).toBe('identity');
    expect(await outcome(await signed({ ...good, pad: `${pad}xxxxxx` }))).toBe('401 token_too_large');
    expect(await outcome('a.'.repeat(10_000_000))).toBe('401 token_too_large');
  });

  test('a token with deeply nested JSON is refused', async () => {
    const nested = `${'['.repeat(10)}${']'.repeat(10)}`;
    const deep = `${'['.repeat(1_000)}${']'.repeat(1_000)}`;
    const text = (value: string) => `${JSON.stringify(good).slice(0, -1)},"x":${value}}`;
    expect(await outcome(await signText(ec, text(nested)))).toBe('identity');
    expect(await outcome(await signText(ec, text(deep)))).toBe('401 token_malformed');
  });
});

describe('wrong algorithms and signatures', () => {
  test.each([
    'none',
    'None',
    'NONE',
    '',
    'HS256',
    'ES384',
    'PS256',
    'Ed25519',
    'ES256K',
    null,
    0,
    ['ES256'],
    undefined,
  ])('a token with the algorithm %j is refused', async (alg) => {
    expect(await outcome(`${part({ alg })}.${part(good)}.AAAA`)).toBe('401 algorithm_refused');
  });

  test('a token without a signature is refused', async () => {
    expect(await outcome(`${part({ alg: 'none' })}.${part(good)}.`)).toBe('401 token_malformed');
  });

  test.each(['rsa', 'ec'])('a token with an HMAC keyed by the public key %s is refused', async (kid) => {
    expect(await outcome(signWithPublicKey(kid === 'rsa' ? rsa : ec, good))).toBe('401 algorithm_refused');
  });

  test('a token signed with another key of the same kid is refused', async () => {
    expect(await outcome(await signed(good, {}, stranger))).toBe('401 signature_wrong');
  });

  test('a token that is signed with a key from its own header is refused', async () => {
    const header = { kid: undefined, jwk: stranger.jwk, jku: 'https://evil.example/jwks.json' };
    expect(await outcome(await signed(good, header, stranger))).toBe('401 signature_wrong');
  });

  test('a token whose claims were changed is refused', async () => {
    const [header, , signature] = (await signed(good)).split('.');
    expect(await outcome(`${header}.${part({ ...good, sub: 'root' })}.${signature}`)).toBe('401 signature_wrong');
  });

  test('an ECDSA signature of zeros is refused', async () => {
    const zeros = Buffer.alloc(64).toString('base64url');
    expect(await outcome(`${part({ alg: 'ES256', kid: 'ec' })}.${part(good)}.${zeros}`)).toBe('401 signature_wrong');
  });

  test.each<[string, Record<string, unknown>, string]>([
    ['the kid of a key of another type', { kid: 'rsa' }, '401 key_unknown'],
    ['an unknown kid', { kid: '../../etc/passwd' }, '401 key_unknown'],
    ['a kid that is an inherited property name', { kid: '__proto__' }, '401 key_unknown'],
    ['an empty name', { kid: '' }, '401 key_unknown'],
    ['a kid that is too long', { kid: 'k'.repeat(256) }, '401 token_malformed'],
  ])('a token with %s is refused', async (_what, header, expected) => {
    expect(await outcome(await signed(good, header))).toBe(expected);
  });

  test.each([0, null, {}, ['ec']])('a token whose kid is not text is refused: %j', async (kid) => {
    expect(await outcome(`${part({ alg: 'ES256', kid })}.${part(good)}.AAAA`)).toBe('401 token_malformed');
  });

  test.each([
    ['crit', { crit: ['exp'], exp: 1 }],
    ['an empty crit', { crit: [] }],
    ['b64', { b64: true }],
  ])('a token that requires an extension is refused: %s', async (_what, header) => {
    expect(await outcome(`${part({ alg: 'ES256', kid: 'ec', ...header })}.${part(good)}.AAAA`)).toBe(
      '401 critical_refused',
    );
  });

  test.each(['dpop+jwt', 'logout+jwt', 'id_token', '', 5, null])('a token with typ %j is refused', async (typ) => {
    expect(await outcome(await signed(good, { typ }))).toBe('401 type_refused');
  });
});

describe('invalid claims', () => {
  test.each<[string, object, string]>([
    ['another issuer', { ...good, iss: 'https://evil.example' }, '401 issuer_unknown'],
    ['an issuer with a trailing slash', { ...good, iss: `${issuer}/` }, '401 issuer_unknown'],
    ['an issuer in another case', { ...good, iss: issuer.toUpperCase() }, '401 issuer_unknown'],
    ['an issuer in a list', { ...good, iss: [issuer] }, '401 claims_invalid'],
    ['no issuer', { ...good, iss: undefined }, '401 issuer_unknown'],
    ['another audience', { ...good, aud: 'other' }, '401 audience_wrong'],
    ['other audiences', { ...good, aud: ['other', 'portcullis2'] }, '401 audience_wrong'],
    ['no audience', { ...good, aud: [] }, '401 audience_wrong'],
    ['audiences that are not texts', { ...good, aud: [audience, 5] }, '401 claims_invalid'],
    ['an audience that is an object', { ...good, aud: { [audience]: true } }, '401 claims_invalid'],
    ['no audience', { ...good, aud: undefined }, '401 claims_invalid'],
    ['no subject', { ...good, sub: undefined }, '401 claims_invalid'],
    ['an empty subject', { ...good, sub: '' }, '401 claims_invalid'],
    ['a subject that is a number', { ...good, sub: 5 }, '401 claims_invalid'],
    ['a subject that is too long', { ...good, sub: 'a'.repeat(256) }, '401 claims_invalid'],
    ['a subject with a line break', { ...good, sub: 'ann\nroot' }, '401 claims_invalid'],
    ['no end', { ...good, exp: undefined }, '401 claims_invalid'],
    ['an exp that is text', { ...good, exp: String(now + 300) }, '401 claims_invalid'],
    ['an exp beyond the range of dates', { ...good, exp: 253_402_300_800 }, '401 claims_invalid'],
    ['a start as text', { ...good, nbf: '0' }, '401 claims_invalid'],
    ['a jti that is a number', { ...good, jti: 5 }, '401 claims_invalid'],
    ['an actor without a subject', { ...good, act: { iss: issuer } }, '401 claims_invalid'],
    ['an actor that is text', { ...good, act: 'agent' }, '401 claims_invalid'],
    ['no actor', { ...good, act: null }, '401 claims_invalid'],
    ['a chain that breaks', { ...good, act: { sub: 'a', act: [] } }, '401 claims_invalid'],
    ['an actor whose issuer is not text', { ...good, act: { sub: 'a', iss: 1 } }, '401 claims_invalid'],
  ])('a token with %s is refused', async (_what, claims, expected) => {
    expect(await outcome(await signed(claims))).toBe(expected);
  });

  test('an act chain of 4 actors is accepted, and a chain of 5 actors is refused', async () => {
    const chain = (length: number): object =>
      Array.from({ length }).reduce<object>((act, _, at) => ({ sub: `a${at}`, ...(at === 0 ? {} : { act }) }), {});
    expect(await verify(await signed({ ...good, act: chain(4) }))).toMatchObject({ actors: { length: 4 } });
    expect(await outcome(await signed({ ...good, act: chain(5) }))).toBe('401 actors_too_many');
  });

  test.each<[string, object, string]>([
    ['ended 29 seconds ago', { exp: now - 29 }, 'identity'],
    ['ended 30 seconds ago', { exp: now - 30 }, '401 expired'],
    ['ended long ago', { exp: 0 }, '401 expired'],
    ['begins in 30 seconds', { nbf: now + 30 }, 'identity'],
    ['begins in 31 seconds', { nbf: now + 31 }, '401 not_yet_valid'],
    ['was issued 30 seconds in the future', { iat: now + 30 }, 'identity'],
    ['was issued 31 seconds in the future', { iat: now + 31 }, '401 not_yet_valid'],
    ['was issued before the epoch', { iat: -1 }, '401 claims_invalid'],
  ])('clocks may be 30 seconds apart: a token that %s', async (_what, times, expected) => {
    expect(await outcome(await signed({ ...good, ...times }))).toBe(expected);
  });
});

test('a token of one issuer signed with the key of another is refused', async () => {
  await using other = await startJwksServer(stranger);
  const verifier = createVerifier({
    issuers: [
      { issuer, audience, jwks: server.url },
      { issuer: 'https://other.example', audience: 'theirs', jwks: other.url },
    ],
    clock,
  });
  const theirs = { ...good, iss: 'https://other.example', aud: 'theirs' };
  expect(await verifier.verify(await signed(theirs, {}, stranger))).toMatchObject({ issuer: 'https://other.example' });
  expect(await verifier.verify(await signed(good, {}, stranger))).toMatchObject({ code: 'signature_wrong' });
  expect(await verifier.verify(await signed(theirs, {}, ec))).toMatchObject({ code: 'signature_wrong' });
  expect(await verifier.verify(await signed({ ...theirs, aud: audience }, {}, stranger))).toMatchObject({
    code: 'audience_wrong',
  });
});

test('a verifier with an issuer that is listed twice cannot be created', () => {
  const one = { issuer, audience, jwks: server.url };
  expect(() => createVerifier({ issuers: [one, one] })).toThrow('contains an issuer twice');
});

describe('keys of an issuer', () => {
  test('keys are fetched once for concurrent tokens, and again for the first token of a rotated key', async () => {
    const at = createFakeClock();
    const next = await createTestKey('ES256', 'next');
    await using jwks = await startJwksServer(ec);
    const verifier = verifierOf(jwks.url, at);
    const token = await signed(good);
    await Promise.all(Array.from({ length: 50 }, () => verifier.verify(token)));
    expect(jwks.asked()).toBe(1);
    jwks.publish(next, ec);
    at.advance(30_000);
    const later = { ...good, exp: now + 3_000 };
    expect(await verifier.verify(await signed(later, {}, next))).toMatchObject({ kind: 'identity' });
    expect(await verifier.verify(await signed(later))).toMatchObject({ kind: 'identity' });
    expect(jwks.asked()).toBe(2);
  });

  test.each([29_999, 30_000])(
    'a token without a kid of a rotated key is verified once the keys are 30 seconds old: %i ms',
    async (age) => {
      const at = createFakeClock();
      const next = await createTestKey('ES256', 'next');
      await using jwks = await startJwksServer(ec);
      const verifier = verifierOf(jwks.url, at);
      await verifier.verify(await signed(good));
      jwks.publish(next);
      at.advance(age);
      const later = { ...good, exp: now + 3_000 };
      const expected = age < 30_000 ? { code: 'signature_wrong' } : { kind: 'identity' };
      expect(await verifier.verify(await signed(later, { kid: undefined }, next))).toMatchObject(expected);
      // Tokens of no published key cause no fetch before the keys are as old again.
      for (let made = 0; made < 5; made += 1) {
        const unknown = await signed({ ...later, jti: String(made) }, { kid: undefined }, stranger);
        expect((await verifier.verify(unknown)).kind).toBe('refusal');
      }
      expect(jwks.asked()).toBe(age < 30_000 ? 1 : 2);
    },
  );

  test('unknown key ids cause at most one fetch in 30 seconds', async () => {
    const at = createFakeClock();
    await using jwks = await startJwksServer(ec);
    const verifier = verifierOf(jwks.url, at);
    for (let made = 0; made < 20; made += 1) {
      expect(await verifier.verify(await signed(good, { kid: `made-up-${made}` }))).toMatchObject({
        code: 'key_unknown',
      });
      at.advance(1_000);
    }
    expect(jwks.asked()).toBe(1);
    at.advance(10_000);
    await verifier.verify(await signed(good, { kid: 'made-up' }));
    expect(jwks.asked()).toBe(2);
  });

  test('a revoked key is invalid after the next fetch, at the latest after 15 minutes', async () => {
    const at = createFakeClock();
    const next = await createTestKey('ES256', 'next');
    await using jwks = await startJwksServer(ec);
    const verifier = verifierOf(jwks.url, at);
    const token = await signed({ ...good, exp: now + 30_000 });
    expect(await verifier.verify(token)).toMatchObject({ kind: 'identity' });
    jwks.publish(next);
    at.advance(299_000);
    expect(await verifier.verify(token)).toMatchObject({ kind: 'identity' });
    at.advance(1_000);
    // This call starts fetching the keys without waiting for them.
    await verifier.verify(token);
    await until('the revoked key is no longer used', async () => {
      const found = await verifier.verify(token);
      return found.kind !== 'identity' && found.code === 'key_unknown';
    });
    expect(jwks.asked()).toBe(2);
  });

  const broken: readonly [string, (jwks: JwksServer) => void][] = [
    ['answers 500', (jwks) => jwks.answerWith((outgoing) => outgoing.writeHead(500).end('{"keys":[]}'))],
    [
      'redirects',
      (jwks) => jwks.answerWith((outgoing) => outgoing.writeHead(302, { location: server.url.href }).end()),
    ],
    ['sends no JSON', (jwks) => jwks.answerWith((outgoing) => outgoing.end('<html>'))],
    ['sends no keys', (jwks) => jwks.publish()],
    ['repeats a key in an object', (jwks) => jwks.answerWith((outgoing) => outgoing.end('{"keys":[],"keys":[{}]}'))],
    [
      'sends more bytes than allowed',
      (jwks) => jwks.answerWith((outgoing) => outgoing.end(`{"keys":[]${' '.repeat(131_072)}}`)),
    ],
    ['sends more keys than allowed', (jwks) => jwks.publish(...Array.from({ length: 33 }, () => ec))],
    ['sends only secret keys', (jwks) => jwks.publish({ kty: 'oct', k: 'AAAA', kid: 'ec' }, { ...ec.jwk, d: 'AAAA' })],
    ['cuts the connection', (jwks) => jwks.answerWith((outgoing) => outgoing.destroy())],
    ['hangs', (jwks) => jwks.answerWith(() => undefined)],
    ['hangs during its answer', (jwks) => jwks.answerWith((outgoing) => outgoing.write('{"keys":['))],
  ];

  test.concurrent.each(broken)(
    'while the server of the keys %s, tokens are identity_unavailable and never valid, and tokens are valid again afterwards',
    async (_what, breakIt) => {
      const at = createFakeClock();
      await using jwks = await startJwksServer(ec);
      breakIt(jwks);
      const told: string[] = [];
      const verifier = createVerifier({
        issuers: [{ issuer, audience, jwks: jwks.url }],
        clock: at,
        onUnavailable: (name, error) => told.push(`${name} ${error.message}`),
      });
      const token = await signed(good);
      expect(await verifier.verify(token)).toEqual({ kind: 'refusal', code: 'identity_unavailable', status: 503 });
      expect(await verifier.verify(token)).toMatchObject({ code: 'identity_unavailable' });
      expect(jwks.asked()).toBe(1);
      expect(told).toHaveLength(2);
      jwks.publish(ec);
      at.advance(2_000);
      expect(await verifier.verify(token)).toMatchObject({ kind: 'identity' });
    },
  );

  test('keys of an unreachable issuer are used for 15 minutes, then every token is refused', async () => {
    const at = createFakeClock();
    await using jwks = await startJwksServer(ec);
    const verifier = verifierOf(jwks.url, at);
    const token = await signed({ ...good, exp: now + 30_000 });
    expect(await verifier.verify(token)).toMatchObject({ kind: 'identity' });
    jwks.answerWith((outgoing) => outgoing.destroy());
    at.advance(899_000);
    expect(await verifier.verify(token)).toMatchObject({ kind: 'identity' });
    at.advance(1_000);
    expect(await verifier.verify(token)).toMatchObject({ code: 'identity_unavailable', status: 503 });
  });

  test('a token with an unknown kid is identity_unavailable while keys cannot be fetched', async () => {
    const at = createFakeClock();
    await using jwks = await startJwksServer(ec);
    const verifier = verifierOf(jwks.url, at);
    await verifier.verify(await signed(good));
    jwks.answerWith((outgoing) => outgoing.destroy());
    at.advance(30_000);
    expect(await verifier.verify(await signed(good, { kid: 'new' }))).toMatchObject({ code: 'identity_unavailable' });
    expect(await verifier.verify(await signed(good))).toMatchObject({ kind: 'identity' });
  });

  test.each<[string, object]>([
    ['an RSA key of 1024 bits', { n: Buffer.alloc(128, 0xff).toString('base64url') }],
    ['a key for encryption', { use: 'enc' }],
    ['a key for another algorithm', { alg: 'RS512' }],
    ['a key that may only sign', { key_ops: ['sign'] }],
  ])('a token is refused when the issuer publishes %s', async (_what, change) => {
    await using jwks = await startJwksServer(ec);
    jwks.publish(ec, { ...rsa.jwk, ...change });
    expect(await verifierOf(jwks.url).verify(await signed(good, {}, rsa))).toMatchObject({ code: 'key_unknown' });
    expect(await verifierOf(jwks.url).verify(await signed(good))).toMatchObject({ kind: 'identity' });
  });

  test('a published key that is not on its curve verifies no token', async () => {
    await using jwks = await startJwksServer(ed);
    jwks.publish(ed, { ...ec.jwk, y: ec.jwk.x as string });
    expect(await verifierOf(jwks.url).verify(await signed(good))).toMatchObject({ code: 'key_unknown' });
  });
});

describe('keys in a mounted file', () => {
  test('a mounted key file is read again within a second, and a missing or invalid file has no key', async () => {
    const at = createFakeClock();
    const folder = mkdtempSync(join(tmpdir(), 'portcullis-jwks-'));
    const file = join(folder, 'jwks.json');
    const next = await createTestKey('ES256', 'next');
    const verifier = createVerifier({ issuers: [{ issuer, audience, jwks: { file } }], clock: at });
    const results: string[] = [];
    const step = async (key: TestKey): Promise<void> => {
      at.advance(1_000);
      const found = await verifier.verify(await signed(good, {}, key));
      results.push(found.kind === 'identity' ? 'identity' : found.code);
    };
    await step(ec);
    writeFileSync(file, JSON.stringify({ keys: [ec.jwk] }));
    await step(ec);
    writeFileSync(file, JSON.stringify({ keys: [next.jwk] }));
    await step(ec);
    await step(next);
    writeFileSync(file, '{');
    await step(next);
    rmSync(folder, { recursive: true });
    await step(next);
    expect(results).toEqual([
      'identity_unavailable',
      'identity',
      'key_unknown',
      'identity',
      'identity_unavailable',
      'identity_unavailable',
    ]);
  });
});
