import { timingSafeEqual } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';
import { getCookie } from 'hono/cookie';
import { matchedRoutes } from 'hono/route';
import { createManagementApi } from '../clients/management-api.ts';
import type { PageContext, Theme } from '../pages/page.ts';
import type { Cookies } from '../sessions/cookies.ts';
import { sessionRights } from '../sessions/session.ts';
import { type ConsoleConfig, servicesForPersons } from '../setup/console-config.ts';
import { chooseLanguage, languages } from '../words/choose-words.ts';
import { answerNotice, isOfScript } from './answer-page.ts';
import type { ConsoleContext, ConsoleEnvironment } from './environment.ts';
import { answerEnded, answerOtherSession } from './refuse-write.ts';

type Gate = MiddlewareHandler<ConsoleEnvironment>;

/** Names of the cookies of choices, which are no secret. */
export const choiceCookies = { language: 'portcullis-language', theme: 'portcullis-theme' } as const;

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types console',
].join('; ');

/** Sets headers on every answer: no inline script, no content of another host, no frame, no copy in a cache. */
export const protectBrowser: Gate = async (context, next) => {
  await next();
  context.header('content-security-policy', policy);
  context.header('x-content-type-options', 'nosniff');
  context.header('referrer-policy', 'same-origin');
  context.header('cross-origin-opener-policy', 'same-origin');
  context.header('cross-origin-resource-policy', 'same-origin');
  if (!context.res.headers.has('cache-control')) context.header('cache-control', 'no-store');
};

/** A page of another host that resolves to this address has another Host (DNS rebinding). */
export function requireHost(origin: string): Gate {
  const { host, hostname } = new URL(origin);
  // A person who typed localhost learns the address; that of an installation is not told to other hosts.
  const remedy = hostname === '127.0.0.1' ? ` Open ${origin}` : '';
  return async (context, next) => {
    if (context.req.header('host') !== host)
      return context.text(`The Host header is not the host of this console.${remedy}\n`, 421);
    await next();
    return undefined;
  };
}

/** Reads the session and the choices of the person. */
export function readChoices(options: {
  readonly cookies: Cookies;
  readonly config: ConsoleConfig;
  readonly assets: string;
}): Gate {
  const { cookies, config, assets } = options;
  const { retrieval, memory } = servicesForPersons(config);
  const { catalogue } = config.services;
  const has = { retrieval: retrieval !== undefined, memory: memory !== undefined, agents: catalogue !== undefined };
  return async (context, next) => {
    const session = await cookies.session(context.req.header('cookie'));
    const language = chooseLanguage(getCookie(context, choiceCookies.language), context.req.header('accept-language'));
    const page: PageContext = {
      words: languages[language],
      language,
      theme: themeOf(getCookie(context, choiceCookies.theme)),
      session,
      path: context.req.path,
      here: hereOf(context),
      has,
      assets,
    };
    context.set('page', page);
    if (session !== undefined) {
      context.set('session', session);
      context.set('management', createManagementApi(config.services.management, session.token));
    }
    await next();
  };
}

/** The address of this page. An address of a write or of a sign-in, which has a code, is not opened again. */
function hereOf(context: ConsoleContext): string {
  const { method, path, url } = context.req;
  const isPage = method === 'GET' && matchedRoutes(context).some((route) => route.method === 'GET');
  return isPage && !path.startsWith('/sign-') ? `${path}${new URL(url).search}` : '/';
}

export function themeOf(text: string | undefined): Theme {
  return text === 'light' || text === 'dark' ? text : 'auto';
}

/**
 * Leads to the sign-in and back to the page. A write or a request of a script is refused instead, because the page that
 * sent it may contain typed text.
 */
export const requireSession: Gate = async (context, next) => {
  if (context.get('page').session !== undefined) {
    await next();
    return undefined;
  }
  if (isOfScript(context) || context.req.method !== 'GET') return answerEnded(context);
  const href = `/sign-in?return_to=${encodeURIComponent(context.get('page').here)}`;
  if (!isOfOwnForm(context)) return context.redirect(href, 303);
  const { errors, sessions, signIn: label } = context.get('page').words;
  context.header('refresh', `0;url=${href}`);
  return answerNotice(context, 401, { title: errors.ended, text: sessions.endedQuery, link: { href, label } });
};

/**
 * Whether a form of this console may have sent this GET. A browser lets a form submit to no other origin (form-action),
 * and the sign-in is on another origin, so that such a page needs a link to it.
 */
function isOfOwnForm(context: ConsoleContext): boolean {
  const { search } = new URL(context.req.url);
  const from = context.req.header('referer');
  return search !== '' && from !== undefined && URL.parse(from)?.host === context.req.header('host');
}

/**
 * The navigation and the links of a page follow the present rights of the person. While the management API does not
 * answer, they follow the rights at the sign-in. The APIs decide about each request anyway. Parts that the script loads
 * read the rights only where they need them: some parts are requested every second.
 */
export const readRights: Gate = async (context, next) => {
  if (context.req.method === 'GET' && !isOfScript(context)) {
    const held = await context.get('management').ownRights();
    if (held.kind === 'value') {
      const session = { ...context.get('session'), rights: sessionRights(held.value) };
      context.set('session', session);
      context.set('page', { ...context.get('page'), session });
    }
  }
  await next();
};

/**
 * Accepts a write only from a page of this console: its Origin is the origin of the console, and it has the token of
 * the session, in a header or in the first member of its form (OWASP: cross-site request forgery). SameSite cookies are
 * not enough on loopback, where every port is the same site.
 */
export function requireOwnOrigin(origin: string): Gate {
  return async (context, next) => {
    if (context.req.method === 'GET' || context.req.method === 'HEAD') {
      await next();
      return undefined;
    }
    const { session, words } = context.get('page');
    if (context.req.header('origin') !== origin) {
      const { foreign: title, foreignText: text } = words.errors;
      return answerNotice(context, 403, { title, text });
    }
    const given = await csrfOf(context);
    if (given === undefined) {
      const { unreadable: title, unreadableText: text } = words.errors;
      return answerNotice(context, 400, { title, text });
    }
    if (session !== undefined && !isEqual(given, session.csrf)) return answerOtherSession(context);
    await next();
    return undefined;
  };
}

/** The token of a write; empty for a request without one, undefined for a form that cannot be read. */
async function csrfOf(context: Parameters<Gate>[0]): Promise<string | undefined> {
  const header = context.req.header('x-csrf-token');
  const type = context.req.header('content-type') ?? '';
  if (!type.startsWith('application/x-www-form-urlencoded') && !type.startsWith('multipart/form-data'))
    return header ?? '';
  try {
    const { csrf } = await context.req.parseBody();
    return header ?? (typeof csrf === 'string' ? csrf : '');
  } catch {
    // Its boundary is absent or wrong, or the browser has left during the upload.
    return undefined;
  }
}

function isEqual(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}
