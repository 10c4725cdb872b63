import { readFileSync } from 'node:fs';
import * as oidc from 'openid-client';
import type { ConsoleConfig } from '../setup/console-config.ts';
import type { SignInAttempt } from './session.ts';

/** The OpenID provider does not answer, or refused the sign-in. The message has no token and no code. */
export class SignInError extends Error {
  readonly code: 'unavailable' | 'refused';

  constructor(code: SignInError['code'], cause: unknown) {
    super(code === 'unavailable' ? 'the OpenID provider does not answer' : 'the OpenID provider refused the sign-in', {
      cause,
    });
    this.name = 'SignInError';
    this.code = code;
  }
}

export type SignedIn = { readonly subject: string; readonly token: string; readonly expiresAt: number };

export type OpenIdClient = {
  /** A new attempt and the address that the browser is sent to, with the language of the pages. @throws SignInError */
  begin(returnTo: string, language: string): Promise<{ readonly attempt: SignInAttempt; readonly url: string }>;
  /** Redeems the code with which the browser returned from the issuer. @throws SignInError */
  finish(current: URL, attempt: SignInAttempt): Promise<SignedIn>;
};

function resourceOf(resource: string | undefined): Readonly<Record<string, string>> {
  return resource === undefined ? {} : { resource };
}

/** Reads the secret for each token request, so that a rotated one is used without a restart. @throws when the file cannot be read */
function clientSecret(file: string): oidc.ClientAuth {
  const read = (): oidc.ClientAuth => oidc.ClientSecretBasic(readFileSync(file, 'utf8').trim());
  read();
  return (...request) => read()(...request);
}

/** Whether the provider did not answer, or failed itself: the same sign-in may succeed later. */
function isUnanswered(error: unknown): boolean {
  // A connection that fails.
  if (error instanceof TypeError) return error.cause instanceof Error;
  if (!(error instanceof oidc.ClientError)) return false;
  return error.code === 'OAUTH_TIMEOUT' || (error.cause instanceof Response && error.cause.status >= 500);
}

/** Authorization code grant with PKCE, state and nonce (OpenID Connect Core 1.0, section 3.1; RFC 9700). */
export function createOpenIdClient(config: ConsoleConfig['oidc'], redirectUri: string): OpenIdClient {
  const { issuer, clientId, clientSecretFile, scope, resource } = config;
  let discovered: Promise<oidc.Configuration> | undefined;

  /** The metadata of the provider are kept; a failure is not. */
  async function provider(): Promise<oidc.Configuration> {
    discovered ??= discover();
    try {
      return await discovered;
    } catch (error) {
      discovered = undefined;
      throw new SignInError('unavailable', error);
    }
  }

  async function discover(): Promise<oidc.Configuration> {
    const authentication = clientSecretFile === undefined ? oidc.None() : clientSecret(clientSecretFile);
    // The settings allow http on loopback alone.
    const execute = issuer.protocol === 'http:' ? [oidc.allowInsecureRequests] : [];
    return await oidc.discovery(issuer, clientId, {}, authentication, { execute, timeout: 10 });
  }

  return {
    async begin(returnTo, language) {
      const configuration = await provider();
      const attempt: SignInAttempt = {
        state: oidc.randomState(),
        nonce: oidc.randomNonce(),
        verifier: oidc.randomPKCECodeVerifier(),
        returnTo,
      };
      const url = oidc.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope,
        state: attempt.state,
        nonce: attempt.nonce,
        code_challenge: await oidc.calculatePKCECodeChallenge(attempt.verifier),
        code_challenge_method: 'S256',
        ui_locales: language,
        ...resourceOf(resource),
      });
      return { attempt, url: url.href };
    },
    async finish(current, { state, nonce, verifier }) {
      const configuration = await provider();
      try {
        const checks = {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        };
        // The token request names the resource, too (RFC 8707, section 2.2).
        const tokens = await oidc.authorizationCodeGrant(configuration, current, checks, resourceOf(resource));
        const subject = tokens.claims()?.sub;
        const seconds = tokens.expiresIn();
        if (subject === undefined || seconds === undefined) throw new TypeError('the answer has no subject or no end');
        return { subject, token: tokens.access_token, expiresAt: Math.floor(Date.now() / 1_000) + seconds };
      } catch (error) {
        throw new SignInError(isUnanswered(error) ? 'unavailable' : 'refused', error);
      }
    },
  };
}
