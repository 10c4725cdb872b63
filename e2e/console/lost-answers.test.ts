import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inBrowser, missingBrowser } from '../support/browser.ts';
import { type HostileConsole, openHostileConsole } from './open-hostile-console.ts';

describe.skipIf(missingBrowser !== undefined)(inBrowser('pages whose console or services stop answering'), () => {
  let shown: HostileConsole;

  beforeAll(async () => {
    shown = await openHostileConsole({ texts: ['answer'] });
  });
  afterAll(() => shown[Symbol.asyncDispose]());

  const line = () => shown.page.getByText('The service does not answer. This page');
  const live = () => shown.page.getByText('This page changes as soon as a replica reports.');

  test('an overview whose stream has ended states since when it may be outdated, and is not marked as live until it is connected again', async () => {
    const { page, url } = shown;
    const streamed = page.waitForResponse((response) => response.url().includes('/overview/events'));
    await page.goto(`${url}/overview`);
    await streamed;
    expect([await line().isVisible(), await live().isVisible()]).toEqual([false, true]);
    await shown.stop();
    await line().waitFor();
    expect(await line().innerText()).toMatch(/Since \d+:\d\d/);
    expect(await live().isVisible()).toBe(false);
    await shown.startAgain();
    await line().waitFor({ state: 'hidden' });
    await live().waitFor();
  });

  test('a form that the script sends without an answer keeps its text, and the page says that it may not have arrived', async () => {
    const { page, url } = shown;
    await page.goto(`${url}/playground`);
    await page.getByLabel('Text', { exact: true }).fill('a text');
    await shown.stop();
    await page.getByRole('button', { name: 'Check the text' }).click();
    await line().waitFor();
    expect(await page.getByLabel('Text', { exact: true }).inputValue()).toBe('a text');
    await shown.startAgain();
    await page.getByRole('button', { name: 'Check the text' }).click();
    await page.getByRole('heading', { name: 'Decision' }).waitFor();
    expect(await line().isVisible()).toBe(false);
  });

  test('a proof of the audit log that is cut leaves its progress, and the page says that no answer comes', async () => {
    const { page, url } = shown;
    await page.goto(`${url}/audit`);
    await page.getByRole('button', { name: 'Prove' }).click();
    await page.locator('#proof progress').waitFor();
    expect(await line().isVisible()).toBe(false);
    await shown.stop();
    await line().waitFor();
    await shown.startAgain();
    await page.getByRole('button', { name: 'Prove' }).click();
    await line().waitFor({ state: 'hidden' });
  });

  test('an answer that is not of the console, such as that of a proxy, is not inserted into the page', async () => {
    const { page, url } = shown;
    await page.goto(`${url}/playground`);
    const answer = { status: 502, contentType: 'text/html', body: '<h1>502 Bad Gateway</h1>' };
    await page.route('**/playground/check', (route) => route.fulfill(answer));
    await page.getByRole('button', { name: 'Check the text' }).click();
    await line().waitFor();
    expect(await page.getByText('502 Bad Gateway').count()).toBe(0);
    await page.unroute('**/playground/check');
    await page.getByRole('button', { name: 'Check the text' }).click();
    await page.getByRole('heading', { name: 'Decision' }).waitFor();
    await line().waitFor({ state: 'hidden' });
  });

  test('the state of an operation stays while the person has sent too many requests, and the page says that it may be outdated', async () => {
    const { page, url, state } = shown;
    await page.goto(`${url}/operations/01900000-0000-7000-8000-000000000001`);
    const shownState = page.locator('#state-01900000-0000-7000-8000-000000000001');
    const before = await shownState.innerText();
    state.busy = true;
    await line().waitFor();
    expect(await shownState.innerText()).toBe(before);
    expect(await page.getByText('rate_limited').count()).toBe(0);
    state.busy = false;
    await line().waitFor({ state: 'hidden' });
  });

  test('a state that does not change is not written again, so that a screen reader does not repeat it', async () => {
    const { page, url } = shown;
    await page.goto(`${url}/operations/01900000-0000-7000-8000-000000000001`);
    await page.evaluate(`(() => {
      globalThis.changes = [];
      const watched = document.querySelector('main [aria-live]');
      const keep = (all) => globalThis.changes.push(...all.map(({ type }) => type));
      new MutationObserver(keep).observe(watched, { childList: true, characterData: true, subtree: true });
    })()`);
    for (let turn = 0; turn < 2; turn += 1)
      await page.waitForResponse((response) => response.url().includes('/operations/states'));
    await page.waitForRequest((request) => request.url().includes('/operations/states'));
    expect(await page.evaluate('globalThis.changes')).toEqual([]);
  });
});
