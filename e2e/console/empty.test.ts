import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inBrowser, missingBrowser } from '../support/browser.ts';
import { type HostileConsole, hostileId as id, openHostileConsole } from './open-hostile-console.ts';

describe.skipIf(missingBrowser !== undefined)(inBrowser('pages of a new platform'), () => {
  let shown: HostileConsole;

  beforeAll(async () => {
    shown = await openHostileConsole();
    shown.state.empty = true;
  });
  afterAll(() => shown[Symbol.asyncDispose]());

  test.each([
    ['/overview', 'portcullis apply -f FILE'],
    ['/overview', 'portcullis chat guarded-echo --message'],
    ['/policies', 'Begin with a recipe: choose “New policy”.'],
    ['/playground', 'Begin with a recipe: choose “New policy”.'],
    ['/activity', 'portcullis chat guarded-echo --message'],
    ['/operations', 'Save a policy, or apply one to a model'],
    ['/operations?state=failed', 'show all operations'],
    ['/approvals', 'portcullis approval require --model NAME'],
    ['/audit', 'change a policy, or apply one to a model'],
    ['/audit?outcome=failed', 'show all entries'],
    ['/knowledge', 'portcullis collection create NAME'],
    [`/knowledge/${id}`, 'Add a text or Markdown file below.'],
    ['/memory', 'portcullis memory add'],
    ['/agents', 'portcullis flow publish'],
    [`/agents/${id}/versions/${id}/runs`, 'Send the agent a message'],
  ])('the page %s without content shows the next step: %s', async (path, step) => {
    await shown.page.goto(`${shown.url}${path}`);
    await shown.page.locator('main').getByText(step).first().waitFor();
  });

  test('an empty playground leads to a new policy, and a search without a match has the next step', async () => {
    const { page, url } = shown;
    await page.goto(`${url}/playground`);
    await page.locator('main').getByRole('link', { name: 'New policy' }).click();
    await page.getByLabel('Definition (YAML)').waitFor();
    await page.goto(`${url}/knowledge/${id}`);
    await page.getByLabel('Question').fill('Hello');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByText('Ask with other words').waitFor();
    for (const [path, all] of [
      ['/memory', 'All'],
      ['/agents', 'All agents'],
    ] as const) {
      await page.goto(`${url}${path}`);
      await page.locator('main [type="search"]').fill('Hello');
      await page.locator('main [type="search"]').press('Enter');
      await page.locator('#found').getByRole('link', { name: all, exact: true }).click();
      await page.locator('#found .notice').waitFor();
      expect(page.url()).toBe(`${url}${path}`);
    }
    expect(await shown.problems()).toEqual([]);
  });
});
