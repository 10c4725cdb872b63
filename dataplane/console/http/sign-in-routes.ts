import { randomBytes } from 'node:crypto';
import type { Hono } from 'hono';
import { describeFailure } from '#kit/log/describe-failure';
import type { Logger } from '#kit/log/logger';
import { createManagementApi, noRights } from '../clients/management-api.ts';
import { notice } from '../pages/notice.ts';
import { type Cookies, SessionTooLongError } from '../sessions/cookies.ts';
import { type OpenIdClient, type SignedIn, SignInError } from '../sessions/open-id-client.ts';
import { sessionRights } from '../sessions/session.ts';
import type { ConsoleConfig } from '../setup/console-config.ts';
import { answerNotice, answerPage } from './answer-page.ts';
import type { ConsoleContext, ConsoleEnvironment } from './environment.ts';
import { choiceCookies, themeOf } from './gates.ts';

type SignInRoutes = {
  readonly config: ConsoleConfig;
  readonly origin: string;
  readonly cookies: Cookies;
  readonly client: OpenIdClient;
  readonly logger: Logger;
};

export const callbackPath = '/sign-in/callback';
const yearSeconds = 31_536_000;

/** Sign-in, sign-out and the choices of a browser. */
export function addSignInRoutes(app: Hono<ConsoleEnvironment>, options: SignInRoutes): void {
  const { config, origin, cookies, client, logger } = options;

  app.get('/sign-in', async (context) => {
    try {
      const { attempt, url } = await client.begin(
        ownPath(context.req.query('return_to')),
        context.get('page').language,
      );
      addCookies(context, await cookies.begin(attempt));
      return context.redirect(url, 303);
    } catch (error) {
      return failed(context, error);
    }
  });

  app.get(callbackPath, async (context) => {
    const state = context.req.query('state') ?? '';
    const attempt = await cookies.attempt(context.req.header('cookie'), state);
    addCookies(context, cookies.settle(state));
    if (attempt === undefined) return failed(context, new SignInError('refused', new TypeError('no attempt')));
    try {
      const { pathname, search } = new URL(context.req.url);
      const signedIn = await client.finish(new URL(`${pathname}${search}`, origin), attempt);
      addCookies(context, await cookies.keep(await sessionOf(signedIn), context.req.header('cookie')));
      logger.info('signed_in');
      return context.redirect(attempt.returnTo, 303);
    } catch (error) {
      return failed(context, error);
    }
  });

  app.post('/sign-out', async (context) => {
    addCookies(context, cookies.forget());
    const page = { ...context.get('page'), session: undefined };
    context.set('page', page);
    const { signedOut: title, signedOutText: text, signIn: label } = page.words;
    return answerPage(context, { title, main: notice({ kind: 'done', title, text, link: { href: '/', label } }) });
  });

  app.post('/preferences', async (context) => {
    const { language, theme, return_to: back } = await context.req.parseBody();
    const keep = (name: string, value: string): string =>
      `${name}=${value}; Path=/; SameSite=Lax; HttpOnly; Max-Age=${yearSeconds}`;
    addCookies(context, [
      keep(choiceCookies.language, language === 'ru' ? 'ru' : 'en'),
      keep(choiceCookies.theme, themeOf(typeof theme === 'string' ? theme : undefined)),
    ]);
    const { session, words } = context.get('page');
    const href = ownPath(typeof back === 'string' ? back : undefined);
    if (session !== undefined) return context.redirect(href, 303);
    // A form may not submit to another origin (form-action), and without a session every page redirects to the OpenID
    // provider.
    const link = { href, label: words.signIn };
    const main = notice({ kind: 'done', title: words.kept, text: words.keptText, link });
    return answerPage(context, { title: words.preferences, main });
  });

  async function sessionOf({ subject, token, expiresAt }: SignedIn) {
    const answer = await createManagementApi(config.services.management, token).ownRights();
    // While the API does not answer, the start page says so.
    const held = answer.kind === 'value' ? answer.value : { ...noRights, view: answer.kind === 'away' };
    return {
      subject,
      token,
      expiresAt,
      rights: sessionRights(held),
      csrf: randomBytes(24).toString('base64url'),
    };
  }

  function failed(context: ConsoleContext, error: unknown): Promise<Response> {
    if (!(error instanceof SignInError || error instanceof SessionTooLongError)) throw error;
    logger.warn('sign_in_failed', { failure: describeFailure(error), cause: describeFailure(error.cause) });
    const { signIn: title, signInText: text } = context.get('page').words.errors;
    return answerNotice(context, error instanceof SignInError && error.code === 'unavailable' ? 503 : 400, {
      title,
      text,
    });
  }
}

/** A path of this console; `/` for every other text, so that a sign-in redirects to no other host. */
function ownPath(text: string | undefined): string {
  return text !== undefined && /^\/(?![/\\])[\x21-\x7e]*$/.test(text) && text.length <= 1_024 ? text : '/';
}

function addCookies(context: ConsoleContext, values: readonly string[]): void {
  for (const value of values) context.header('set-cookie', value, { append: true });
}
