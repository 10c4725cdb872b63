import type { APIResponse, Browser, BrowserContext } from 'playwright-core';
import { until } from '#kit/testing/until';
import { developmentIssuer } from '../../cli/platform/development-issuer.ts';
import { readRecipes } from '../../dataplane/console/clients/policy-source.ts';
import { openWatchedPage } from '../support/browser.ts';
import type { Platform } from '../support/start-platform.ts';
import { callManagement } from './call-management.ts';
import { consoleOf, signIn } from './sign-in.ts';

type Action = 'new' | 'edit' | 'check' | 'apply' | 'operations' | 'audit' | 'reindex' | 'talk' | 'runs' | 'flow';
type Answers = Readonly<Record<Action, boolean>>;

/** The pages that are offered to a person, and the answers of the APIs. */
type PersonRow = {
  readonly navigation: readonly string[];
  readonly shown: Answers;
  readonly allowed: Answers;
  /** Ids of the models that the page of the policy offers for an application. */
  readonly offeredModels: readonly string[];
  /** Links on the shown pages that are answered with a refusal, with the status and the code of the refusal. */
  readonly refusedLinks: readonly string[];
};

export type Role = { readonly role: string; readonly policyId?: string; readonly modelId?: string };

/** Grants or revokes, as the administrator, a role for the control plane, for one policy or for one model. */
export async function changeRole(
  platform: Platform,
  change: { readonly verb: 'grant' | 'revoke'; readonly person: string } & Role,
): Promise<void> {
  const { verb, person, ...role } = change;
  const body = { ...role, holder: { issuer: developmentIssuer.issuer, subject: person } };
  await callManagement(platform, { method: 'POST', path: `/api/v1/rights/${verb}`, body });
}

type Linked = { getAttribute(name: string): string | null };
const hrefsOf = (links: readonly Linked[]): readonly string[] => links.map((link) => link.getAttribute('href') ?? '');

/** Signs a person in and compares the offers of the pages with the answers to direct requests. */
export async function matrixRowOf(
  platform: Platform,
  browser: Browser,
  person: {
    readonly name: string | undefined;
    readonly policyId: string;
    readonly modelId: string;
    /** The agent of these pages. */
    readonly agent: string;
    readonly runs: string;
    readonly flow: string;
    readonly collection: string;
    /** The id of an operation that the administrator started. */
    readonly operation: string;
  },
): Promise<PersonRow> {
  const { page, context } = await openWatchedPage(browser);
  await signIn(platform, page, { path: '/memory', ...(person.name === undefined ? {} : { person: person.name }) });
  const navigation = await page.getByRole('navigation').getByRole('link').evaluateAll(hrefsOf);
  const csrf = (await page.locator('meta[name="csrf"]').getAttribute('content')) ?? '';
  const source = readRecipes().get('competitors') ?? '';
  const { policyId, modelId, agent, runs, flow, collection, operation } = person;
  const policy = `/policies/${policyId}`;
  const pages = [...navigation, agent, policy, collection];
  const reads = await Promise.all(pages.map((path) => textOf(context, platform, path)));
  const text = reads.map(({ body }) => body).join('\n');
  const links = new Set([...text.matchAll(/href="(\/[^"#]*)"/g)].map(([, path = '']) => path.replaceAll('&amp;', '&')));
  const refusedLinks: string[] = [];
  for (const path of links) {
    const { status, body } = await textOf(context, platform, path);
    const [, code = ''] = /<code>(\w+)<\/code>/.exec(body) ?? [];
    if (status >= 400) refusedLinks.push(`${path} ${status} ${code}`);
  }
  const isAllowed = async (
    path: string,
    form: Record<string, string> = {},
    headers: Record<string, string> = {},
  ): Promise<boolean> => {
    const own = { origin: consoleOf(platform), ...headers };
    const sent = { headers: own, form: { csrf, ...form }, maxRedirects: 0 };
    const { status, body } = await whenAnswered(() => context.request.post(`${consoleOf(platform)}${path}`, sent));
    const isRefused = /<code>(permission_denied|forbidden)<\/code>/.test(body);
    if (!isRefused && ![200, 303].includes(status)) throw new Error(`${path} was answered ${status}: ${body}`);
    return !isRefused;
  };
  const edited = await textOf(context, platform, `${policy}/edit`);
  const etag = /name="etag" value="([^"]*)"/.exec(edited.body)?.[1]?.replaceAll('&quot;', '"') ?? '"1"';
  const offered = /<select name="model" required>(.*?)<\/select>/s.exec(text)?.[1] ?? '';
  const row: PersonRow = {
    navigation,
    refusedLinks,
    offeredModels: [...offered.matchAll(/value="([^"]+)"/g)].map(([, id = '']) => id),
    shown: {
      new: text.includes('href="/policies/new"'),
      edit: text.includes(`href="${policy}/edit"`),
      check: text.includes('hx-post="/playground/check"'),
      apply: text.includes(`action="${policy}/apply"`),
      operations: text.includes(`href="${operation}"`),
      audit: navigation.includes('/audit'),
      reindex: text.includes(`action="${collection}/reindex"`),
      talk: text.includes(`hx-post="${agent}/chat"`),
      runs: text.includes('id="runs"'),
      flow: text.includes(`href="${flow}"`),
    },
    allowed: {
      new: await isAllowed('/policies', { source }),
      edit: await isAllowed(policy, { source, etag, status: 'draft' }),
      check: await isAllowed('/playground/check', { policy: policyId, revision: '1', stage: 'request', text: 'Hello' }),
      apply: await isAllowed(`${policy}/apply`, {
        ...{ model: modelId, revision: '1', [`shown.${modelId}`]: `${policyId}:1` },
      }),
      operations: (await textOf(context, platform, operation)).status === 200,
      audit: (await textOf(context, platform, '/audit')).status === 200,
      reindex: await isAllowed(`${collection}/reindex`),
      talk: await isAllowed(`${agent}/chat`, { text: 'Hello' }, { 'hx-request': 'true' }),
      runs: (await textOf(context, platform, runs)).status === 200,
      flow: (await textOf(context, platform, flow)).status === 200,
    },
  };
  await context.close();
  return row;
}

function textOf(context: BrowserContext, platform: Platform, path: string) {
  return whenAnswered(() => context.request.get(`${consoleOf(platform)}${path}`));
}

/**
 * Repeats a request until the service behind the page answers it. A quick machine exceeds the rate limit of the person,
 * because it sends the requests of all rows within a minute, and on a busy machine a service may not answer for a
 * moment.
 */
function whenAnswered(send: () => Promise<APIResponse>): Promise<{ readonly status: number; readonly body: string }> {
  return until('the service behind the page answers', async () => {
    const answer = await send();
    const [status, body] = [answer.status(), await answer.text()];
    // A form shows the refusal next to the typed text, and has a status of its own.
    const isPassing = [429, 502, 503].includes(status) || body.includes('<code>rate_limited</code>');
    return isPassing ? undefined : { status, body };
  });
}
