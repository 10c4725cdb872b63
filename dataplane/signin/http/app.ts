import { readFileSync } from 'node:fs';
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { HTTPException } from 'hono/http-exception';
import { languageDetector } from 'hono/language';
import { mintIdToken } from '#identity/mint-id-token';
import { mintToken } from '#identity/mint-token';
import { publicKeySet, publishedKeys, readSigningKeys } from '#identity/signing-keys';
import { describeFailure } from '#kit/log/describe-failure';
import type { Logger } from '#kit/log/logger';
import { AuthorizationCodes } from '../codes/authorization-codes.ts';
import type { OneTimeCode } from '../codes/one-time-code.ts';
import type { SignInConfig } from '../setup/sign-in-config.ts';
import { readAuthorizationRequest } from './authorization-request.ts';
import { signInPage } from './sign-in-page.ts';

type SignInApp = {
  readonly config: SignInConfig;
  readonly oneTimeCode: OneTimeCode;
  readonly logger: Logger;
  /** The own origin, known once the process listens. */
  readonly origin: () => string;
};

const styles = readFileSync(new URL('./sign-in.css', import.meta.url), 'utf8');
const mostFormBytes = 16_384;
/**
 * The language that the console requests (OpenID Connect Core 1.0, section 3.1.2.1), else the language of the browser.
 */
const readLanguage = languageDetector({
  ...{ order: ['querystring', 'header'], lookupQueryString: 'ui_locales', caches: false },
  ...{ supportedLanguages: ['en', 'ru'], fallbackLanguage: 'en' },
});

/**
 * Sign-in on one machine: OpenID Connect with the authorization code grant and PKCE, for one client with one redirect
 * address.
 */
export function signInApp({ config, oneTimeCode, logger, origin }: SignInApp): Hono {
  const codes = new AuthorizationCodes();
  const app = new Hono();
  app.use(async (context, next) => {
    // A page of another host that resolves to this machine has another Host (DNS rebinding).
    if (context.req.header('host') !== new URL(origin()).host)
      return context.text('The Host header is not the host of this service.\n', 421);
    await next();
    context.header('cache-control', 'no-store');
    context.header('x-content-type-options', 'nosniff');
    context.header('referrer-policy', 'same-origin');
    context.header(
      'content-security-policy',
      `default-src 'none'; style-src 'self'; form-action 'self' ${new URL(config.redirectUri).origin}; base-uri 'none'; frame-ancestors 'none'`,
    );
    return undefined;
  });
  app.use('/authorize', readLanguage);
  app.get('/.well-known/openid-configuration', (context) => context.json(metadata(origin())));
  app.get('/jwks.json', async (context) =>
    context.json(publicKeySet(publishedKeys(await readSigningKeys(config.keyFile), new Date()))),
  );
  app.get('/livez', (context) => context.text('ok\n'));
  app.get('/sign-in.css', (context) => context.body(styles, 200, { 'content-type': 'text/css; charset=utf-8' }));
  app.get('/authorize', (context) => showPage(context, context.req.query(), false));
  app.use(bodyLimit({ maxSize: mostFormBytes }));
  app.post('/authorize', authorize);
  app.post('/token', token);
  app.onError((error, context) => {
    if (error instanceof HTTPException) return error.getResponse();
    logger.error('request_failed', { failure: describeFailure(error) });
    return context.text('The request failed. The log of the sign-in has the cause.\n', 500);
  });
  return app;

  function showPage(context: Context, parameters: Readonly<Record<string, string>>, isWrong: boolean) {
    const request = readAuthorizationRequest(parameters, config.redirectUri);
    if (request === undefined)
      return context.text('This is not a request of the console: open its address again.\n', 400);
    const language = context.get('language') === 'ru' ? 'ru' : 'en';
    return context.html(signInPage({ persons: config.persons, request, isWrong, language }), isWrong ? 403 : 200);
  }

  async function authorize(context: Context): Promise<Response> {
    if (context.req.header('origin') !== origin()) return context.text('The Origin header does not match.\n', 403);
    const form = await readTexts(context);
    if (form === undefined)
      return context.text('The form cannot be read: open the address of the console again.\n', 400);
    const request = readAuthorizationRequest(form, config.redirectUri);
    if (request === undefined) return showPage(context, form, false);
    const { person = '', code_of_terminal: given = '' } = form;
    if (!config.persons.includes(person) || !(await oneTimeCode.take(given))) {
      logger.warn('sign_in_refused');
      return showPage(context, form, true);
    }
    const code = codes.issue({
      subject: person,
      clientId: request.client_id,
      nonce: request.nonce,
      challenge: request.code_challenge,
    });
    const back = new URL(config.redirectUri);
    back.searchParams.set('code', code);
    back.searchParams.set('state', request.state);
    back.searchParams.set('iss', origin());
    logger.info('signed_in');
    return context.redirect(back.href, 303);
  }

  async function token(context: Context): Promise<Response> {
    const form = await readTexts(context);
    if (form === undefined) return context.json({ error: 'invalid_request' }, 400);
    if (form['grant_type'] !== 'authorization_code') return context.json({ error: 'unsupported_grant_type' }, 400);
    const { code = '', client_id: clientId = '', code_verifier: verifier = '' } = form;
    const found = codes.redeem(code, { clientId, verifier });
    if (found === undefined || form['redirect_uri'] !== config.redirectUri)
      return context.json({ error: 'invalid_grant' }, 400);
    const { keyFile, issuer, audience, sessionSeconds: ttlSeconds } = config;
    const { subject, nonce } = found;
    return context.json({
      access_token: await mintToken({ keyFile, issuer, audience, subject, ttlSeconds }),
      id_token: await mintIdToken({ keyFile, issuer: origin(), subject, clientId, nonce, ttlSeconds }),
      token_type: 'Bearer',
      expires_in: ttlSeconds,
      scope: 'openid',
    });
  }
}

/** OpenID Connect Discovery 1.0, section 3. */
function metadata(origin: string) {
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    jwks_uri: `${origin}/jwks.json`,
    response_types_supported: ['code'],
    grant_types_supported: ['authorization_code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none'],
    authorization_response_iss_parameter_supported: true,
    scopes_supported: ['openid'],
  };
}

/** The texts of a form; undefined for one that cannot be read, as without its boundary. */
async function readTexts(context: Context): Promise<Record<string, string> | undefined> {
  let form: Readonly<Record<string, unknown>>;
  try {
    form = await context.req.parseBody();
  } catch {
    return undefined;
  }
  return Object.fromEntries(
    Object.entries(form).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}
