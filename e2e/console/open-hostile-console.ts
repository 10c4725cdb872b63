import type { Page, Response } from 'playwright-core';
import { unusedPort } from '#kit/testing/loopback';
import { createConsoleService } from '../../dataplane/console/service.ts';
import { createCookies } from '../../dataplane/console/sessions/cookies.ts';
import { openBrowser, openWatchedPage } from '../support/browser.ts';
import { type HostileApis, startHostileApis } from './hostile-apis.ts';
import { hostileTexts } from './hostile-texts.ts';

/** The id of every object of the answers. */
export const hostileId = '01900000-0000-7000-8000-000000000001';
const id = hostileId;
const version = `/agents/${id}/versions/${id}`;

/** Every page of the console. */
export const hostilePages = [
  ...['/overview', '/policies', '/policies/new', `/policies/${id}`, `/policies/${id}/edit`],
  ...[`/policies/${id}/edit?as=form`, `/policies/${id}/diff?from=1&to=2`, '/playground', '/activity', '/operations'],
  ...[
    `/operations/${id}`,
    '/approvals',
    '/audit',
    '/knowledge',
    `/knowledge/${id}`,
    `/knowledge/${id}/search`,
    '/memory',
    '/memory/search',
    `/memory/${id}/history`,
    `/memory/${id}/delete`,
  ],
  ...['/agents', '/agents/search', `/agents/${id}`, `${version}/flow`, `${version}/runs`, `${version}/runs/${id}`],
];

/** Parts that are loaded after their page. */
const later: Readonly<Record<string, string>> = {
  '/overview': '#decisions > :is(figure, .notice, .quiet)',
  [`/policies/${id}`]: '[hx-get$="/tests"] > :not(.quiet:only-child)',
};
/** The effects that hostile texts would have. */
const foreign = [
  'main :is(script, iframe, b, svg:not(figure svg), img:not([src$="/flow.svg"]))',
  'main :is([onload], [onerror], [onfocus], [onmouseover], [srcdoc], [href^="javascript"], [src^="javascript"])',
].join(', ');

/** A browser with a signed-in user, and a console whose services answer with hostile texts. */
export type HostileConsole = AsyncDisposable & {
  readonly page: Page;
  readonly url: string;
  readonly state: HostileApis['state'];
  /** Messages of the browser, such as violations of the content security policy. */
  readonly complaints: readonly string[];
  /**
   * Opens a page and waits for its parts. @returns the status, and the elements that exist although only texts were
   * sent
   */
  visit(path: string): Promise<{ readonly status: number | undefined; readonly problems: readonly string[] }>;
  /** Stops the console; the browser and the services remain. */
  stop(): Promise<void>;
  /** Starts the console again at the same address. */
  startAgain(): Promise<void>;
  /** Elements and scripts in the open page that hostile texts created. */
  problems(): Promise<readonly string[]>;
};

type HostileOptions = {
  /** The free texts of the answers; hostile texts if absent. */
  readonly texts?: readonly string[];
  /** The language of the browser. */
  readonly locale?: string;
  /** Whether the browser runs scripts; true if absent. */
  readonly javaScriptEnabled?: boolean;
};

export async function openHostileConsole({
  texts = hostileTexts().map((text) => text.replaceAll('\u0000', '')),
  locale = 'en',
  javaScriptEnabled = true,
}: HostileOptions = {}): Promise<HostileConsole> {
  await using parts = new AsyncDisposableStack();
  const { urls, state } = parts.use(await startHostileApis(texts));
  const { catalogue, other } = urls;
  const key = Buffer.alloc(32, 7);
  const free = { host: '127.0.0.1', port: 0 };
  const start = (port: number) =>
    createConsoleService(
      {
        ...{ listen: { ...free, port }, adminListen: free, origin: undefined, logLevel: 'error' },
        oidc: { issuer: other, clientId: 'c', clientSecretFile: undefined, scope: 'openid', resource: undefined },
        services: { management: other, retrieval: other, memory: other, catalogue, gateway: other },
        ...{ tenant: 'default', identity: 'development', actChain: false, persons: ['ann', texts[0] ?? ''] },
      },
      key,
    );
  let service = await start(await unusedPort());
  const { url } = service;
  parts.defer(() => service[Symbol.asyncDispose]());
  const { browser } = parts.use(await openBrowser());
  const { page, context, complaints } = await openWatchedPage(browser, { locale, javaScriptEnabled });
  const rights = {
    ...{ view: true, author: true, check: true, apply: true, administer: true },
    ...{ readsPolicies: true, readsModels: true },
  };
  const session = { subject: texts[1] ?? '', token: 'none', csrf: 'c'.repeat(32), rights };
  const expiresAt = Math.floor(Date.now() / 1_000) + 3_600;
  for (const cookie of await createCookies(key, url).keep({ ...session, expiresAt })) {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
    await context.addCookies([{ name, value, url }]);
  }

  async function problems(): Promise<readonly string[]> {
    const found = await page.locator(foreign).evaluateAll(sourcesOf);
    return (await page.evaluate("'ran' in globalThis")) === true ? [...found, 'a text ran'] : found;
  }

  const owned = parts.move();
  return {
    async stop() {
      await service[Symbol.asyncDispose]();
    },
    async startAgain() {
      service = await start(Number(new URL(url).port));
    },
    page,
    url,
    state,
    complaints,
    problems,
    async visit(path) {
      const answer = path.endsWith('/search') ? await sendSearch(page, url, path) : await page.goto(`${url}${path}`);
      const part = state.refuse ? undefined : later[path];
      if (part !== undefined) await page.locator(part).first().waitFor();
      return { status: answer?.status(), problems: await problems() };
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Sends the form of a search as a browser without scripts does: its answer is a page. */
async function sendSearch(page: Page, url: string, path: string): Promise<Response | null> {
  await page.goto(`${url}${path.replace('/search', '')}`);
  const answered = page.waitForNavigation();
  await page.evaluate(`(${submit})(${JSON.stringify(path)})`);
  return await answered;
}

const submit = `(path) => {
  const form = Object.assign(document.createElement('form'), { method: 'post', action: path });
  const csrf = document.querySelector('meta[name="csrf"]').content;
  for (const [name, value] of Object.entries({ csrf, text: 'x', task: 'x' })) {
    form.append(Object.assign(document.createElement('input'), { name, value }));
  }
  document.body.append(form);
  form.submit();
}`;

type Shown = { readonly outerHTML: string };
const sourcesOf = (all: readonly Shown[]): readonly string[] => all.map((one) => one.outerHTML.slice(0, 200));
