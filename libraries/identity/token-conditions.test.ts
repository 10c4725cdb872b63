import { expect, test } from 'vitest';
import { conditionFault, type TokenConditions } from './token-conditions.ts';

const now = new Date(1_700_000_000_000);
const seconds = now.getTime() / 1_000;

function faultOf(conditions: TokenConditions, claims: Readonly<Record<string, never>> | object = {}, typ = 'JWT') {
  return conditionFault({ header: { alg: 'ES256', typ }, claims: claims as never }, conditions, now);
}

test('a token is refused once it reaches its maximum age and the clock skew of 30 s, and without iat', () => {
  const conditions = { maxAgeSeconds: 60 };
  expect(faultOf(conditions, { iat: seconds - 89 })).toBeUndefined();
  expect(faultOf(conditions, { iat: seconds - 90 })).toBe('too_old');
  expect(faultOf(conditions)).toBe('too_old');
  expect(faultOf(conditions, { iat: 'then' })).toBe('too_old');
  expect(faultOf({}, { iat: 0 })).toBeUndefined();
});

test('a token is accepted only for an authorized party, by azp or client_id', () => {
  const conditions = { authorizedParties: ['portal', 'ci'] };
  expect(faultOf(conditions, { azp: 'portal' })).toBeUndefined();
  expect(faultOf(conditions, { client_id: 'ci' })).toBeUndefined();
  expect(faultOf(conditions, { azp: 'other', client_id: 'ci' })).toBe('party_refused');
  expect(faultOf(conditions, { azp: ['portal'] })).toBe('party_refused');
  expect(faultOf(conditions)).toBe('party_refused');
});

test('a required scope is one word of the claim', () => {
  const conditions = { scope: 'policies' };
  expect(faultOf(conditions, { scope: 'openid policies' })).toBeUndefined();
  expect(faultOf(conditions, { scope: 'policies' })).toBeUndefined();
  expect(faultOf(conditions, { scope: 'policies-read' })).toBe('scope_missing');
  expect(faultOf(conditions, { scope: ['policies'] })).toBe('scope_missing');
  expect(faultOf(conditions)).toBe('scope_missing');
});

test('ID tokens and refresh tokens are refused, access tokens are accepted', () => {
  expect(faultOf({}, {})).toBeUndefined();
  expect(faultOf({}, { typ: 'Bearer' })).toBeUndefined();
  expect(faultOf({}, { nonce: 'n' }, 'at+jwt')).toBeUndefined();
  for (const claims of [{ nonce: 'n' }, { at_hash: 'h' }, { c_hash: 'h' }, { typ: 'ID' }, { typ: 'Refresh' }]) {
    expect([claims, faultOf({}, claims)]).toEqual([claims, 'type_refused']);
  }
});

test('only tokens with the header at+jwt are accepted where the issuer is set so', () => {
  const conditions = { accessTokensOnly: true };
  expect(faultOf(conditions, {}, 'at+jwt')).toBeUndefined();
  expect(faultOf(conditions, {}, 'application/at+jwt')).toBeUndefined();
  expect(faultOf(conditions, {}, 'JWT')).toBe('type_refused');
});
