import { createHmac, KeyObject } from 'node:crypto';
import { CompactSign, exportJWK, exportSPKI, generateKeyPair, type JWK } from 'jose';
import { type Script, silence, startScriptedHttp } from '#kit/testing/scripted-http';

export type TestKey = {
  readonly alg: string;
  readonly kid: string;
  readonly privateKey: KeyObject;
  /** The key in its published form. */
  readonly jwk: JWK;
  readonly pem: string;
};

export async function createTestKey(alg: string, kid: string, modulusLength?: number): Promise<TestKey> {
  const pair = await generateKeyPair(alg, {
    extractable: true,
    ...(modulusLength === undefined ? {} : { modulusLength }),
  });
  const { privateKey, publicKey } = pair;
  const jwk = { ...(await exportJWK(publicKey)), kid, use: 'sig' };
  return { alg, kid, privateKey: KeyObject.from(privateKey), jwk, pem: await exportSPKI(publicKey) };
}

/** Signs arbitrary bytes with an arbitrary header, valid or not. */
export async function signText(key: TestKey, text: string, header: Record<string, unknown> = {}): Promise<string> {
  const protectedHeader = { alg: key.alg, kid: key.kid, ...header };
  return new CompactSign(Buffer.from(text)).setProtectedHeader(protectedHeader).sign(key.privateKey);
}

export const part = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

/**
 * Signs with an HMAC whose key is the text of a public key: a verifier that lets the token choose the algorithm would
 * accept it.
 */
export function signWithPublicKey(key: TestKey, claims: unknown): string {
  const input = `${part({ alg: 'HS256', kid: key.kid })}.${part(claims)}`;
  return `${input}.${createHmac('sha256', key.pem).update(input).digest('base64url')}`;
}

export type JwksServer = AsyncDisposable & {
  readonly url: URL;
  /** Number of requests. */
  readonly asked: () => number;
  publish(...keys: readonly (TestKey | JWK)[]): void;
  answerWith(script: Script): void;
};

/** A server of one JWKS with a configurable response. */
export async function startJwksServer(...keys: readonly TestKey[]): Promise<JwksServer> {
  const server = await startScriptedHttp(silence);
  const publish: JwksServer['publish'] = (...published) => {
    const set = JSON.stringify({ keys: published.map((key) => ('jwk' in key ? (key as TestKey).jwk : key)) });
    server.play((outgoing) => outgoing.end(set));
  };
  publish(...keys);
  return {
    url: new URL('/jwks.json', server.url),
    asked: () => server.seen.length,
    publish,
    answerWith: (script) => server.play(script),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
