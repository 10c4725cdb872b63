import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { inBrowser, missingBrowser } from '../support/browser.ts';
import { findViolations } from './find-violations.ts';
import { type HostileConsole, hostileId as id, openHostileConsole } from './open-hostile-console.ts';

type Refused = {
  readonly name: string;
  readonly status: number;
  /** Opens the page. @returns the status of its answer */
  open(shown: HostileConsole): Promise<number | undefined>;
};

const visit = async ({ page, url }: HostileConsole, path: string) => (await page.goto(`${url}${path}`))?.status();

/** A page whose service refuses with this status and code. */
const refusedBy = (path: string, status: number, code: string): Refused => ({
  name: `${code} at ${path}`,
  status,
  async open(shown) {
    shown.state.refusal = { status, code };
    return visit(shown, path);
  },
});

/** The answer to a form that the browser sends after its members were changed. */
async function sent({ page, url }: HostileConsole, path: string, change: string): Promise<number> {
  await page.goto(`${url}/memory`);
  const answered = page.waitForNavigation();
  await page.evaluate(`(() => {
    const form = document.querySelector('form[action="/memory/erase"]');
    ${change}
    form.action = ${JSON.stringify(path)};
    HTMLFormElement.prototype.submit.call(form);
  })()`);
  return (await answered)?.status() ?? 0;
}

const refusals: readonly Refused[] = [
  refusedBy('/overview', 403, 'permission_denied'),
  refusedBy('/audit', 403, 'permission_denied'),
  refusedBy(`/policies/${id}`, 404, 'policy_not_found'),
  refusedBy(`/memory/${id}/history`, 404, 'not_found'),
  refusedBy('/policies', 409, 'conflict'),
  refusedBy('/operations', 503, 'records_unavailable'),
  refusedBy('/knowledge', 503, 'authz_unavailable'),
  refusedBy('/agents', 429, 'rate_limited'),
  refusedBy('/overview', 429, 'rate_limited'),
  {
    name: 'a service without an answer',
    status: 502,
    open(shown) {
      shown.state.away = true;
      return visit(shown, '/policies');
    },
  },
  { name: 'a page that does not exist', status: 404, open: (shown) => visit(shown, '/nothing') },
  { name: 'a runbook that does not exist', status: 404, open: (shown) => visit(shown, '/runbooks/nothing') },
  { name: 'a sign-in without an attempt', status: 400, open: (shown) => visit(shown, '/sign-in/callback?state=x') },
  { name: 'a sign-in without a provider', status: 503, open: (shown) => visit(shown, '/sign-in') },
  {
    name: 'a form of another session',
    status: 403,
    open: (shown) => sent(shown, '/memory/erase', "form.elements.csrf.value = 'd'.repeat(32);"),
  },
  { name: 'a form without a name', status: 422, open: (shown) => sent(shown, '/memory/erase', '') },
  {
    name: 'a form that is too large',
    status: 413,
    open: (shown) => sent(shown, '/memory/erase', "form.elements.name.value = 'a'.repeat(4_194_304);"),
  },
  {
    name: 'a form after the end of the session',
    status: 401,
    async open(shown) {
      const cookies = await shown.page.context().cookies();
      await shown.page.goto(`${shown.url}/memory`);
      await shown.page.context().clearCookies();
      const answered = shown.page.waitForNavigation();
      await shown.page.evaluate(
        `HTMLFormElement.prototype.submit.call(document.querySelector('form[action="/memory/erase"]'))`,
      );
      const status = (await answered)?.status();
      await shown.page.context().addCookies(cookies);
      return status;
    },
  },
];

const noticesOf = async (page: Page): Promise<number> => page.locator('main .notice.error').count();

describe.skipIf(missingBrowser !== undefined).each(['en', 'ru'])(inBrowser('refusals in the language %s'), (locale) => {
  test('every refusal page has its status, its notice and no violation of WCAG 2.2 AA, neither in the light nor in the dark theme', async () => {
    await using opened = await openHostileConsole({ texts: ['answer', 'ann'], locale });
    for (const { name, status, open } of refusals) {
      opened.state.refusal = undefined;
      opened.state.away = false;
      const found = await open(opened);
      const { page } = opened;
      expect([name, found, await noticesOf(page), await findViolations(page)]).toEqual([name, status, 1, []]);
      expect([name, await page.locator('html').getAttribute('lang')]).toEqual([name, locale]);
    }
  });
});
