import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inBrowser, missingBrowser } from '../support/browser.ts';
import { type HostileConsole, hostilePages, hostileId as id, openHostileConsole } from './open-hostile-console.ts';

/** A text that no answer of an API has. */
const typed = 'marker-of-a-text';

describe.skipIf(missingBrowser !== undefined)(inBrowser('forms that are sent before the script has loaded'), () => {
  let shown: HostileConsole;
  const sent: (readonly [method: string, path: string, addresses: string])[] = [];

  beforeAll(async () => {
    shown = await openHostileConsole({ texts: ['answer'], javaScriptEnabled: false });
    shown.page.on('request', (request) => {
      const { referer } = request.headers();
      sent.push([request.method(), new URL(request.url()).pathname, `${request.url()} ${referer}`]);
    });
  });
  afterAll(() => shown[Symbol.asyncDispose]());

  test.each([
    [`/knowledge/${id}`, 'Question', 'Search', `/knowledge/${id}/search`, 'Citations'],
    ['/playground', 'Text', 'Check the text', '/playground/check', 'Decision'],
    ['/memory', 'Search your memories', 'Search', '/memory/search', 'All'],
    ['/agents', 'Find an agent for a task', 'Find', '/agents/search', 'All agents'],
    [`/agents/${id}`, 'Message', 'Send', `/agents/${id}/chat`, 'The answer failed'],
  ])(
    'without scripts, the page %s sends its field %s in a body, and the answer is a page',
    async (path, label, button, action, text) => {
      const { page, url } = shown;
      await page.goto(`${url}${path}`);
      sent.length = 0;
      await page.getByLabel(label, { exact: true }).fill(typed);
      await page.getByRole('button', { name: button, exact: true }).click();
      await page.waitForURL(`${url}${action}`);
      await page.locator('main').getByText(text).first().waitFor();
      expect(await page.getByRole('navigation').count()).toBeGreaterThan(0);
      expect(sent.map(([method, to]) => `${method} ${to}`)).toContain(`POST ${action}`);
      expect(JSON.stringify(sent)).not.toContain(typed);
    },
  );

  test('without scripts, the answer of an agent is a page that continues its conversation', async () => {
    const { page, url } = shown;
    await page.goto(`${url}/agents/${id}`);
    expect(await page.locator('noscript').innerText()).toContain('Without the script of this page');
    expect(await page.getByRole('button', { name: 'Stop', exact: true }).count()).toBe(0);
    for (const text of ['a first message', 'a second message']) {
      await page.getByLabel('Message', { exact: true }).fill(text);
      await page.getByRole('button', { name: 'Send', exact: true }).click();
      await page.locator('#talk').getByText(text).waitFor();
      expect(await page.locator('#talk .answer .said').innerText()).toContain('answer');
      expect(await page.locator('#talk li').count()).toBe(2);
      expect(await page.locator('#context').getAttribute('value')).toBe('answer');
    }
  });

  test('without scripts, a file is uploaded, and the page of the answer links back to its collection', async () => {
    const { page, url } = shown;
    await page.goto(`${url}/knowledge/${id}`);
    const file = { name: 'report.pdf', mimeType: 'application/pdf', buffer: Buffer.from([0x25, 0xff, 0xfe]) };
    await page.locator('main [type="file"]').setInputFiles(file);
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('alert').getByText('The file is not UTF-8 text').waitFor();
    await page.locator('main').getByRole('link').first().click();
    await page.waitForURL(`${url}/knowledge/${id}`);
  });

  test('every form of every page names its method', async () => {
    const { page, url } = shown;
    for (const path of hostilePages.filter((one) => !one.endsWith('/search'))) {
      await page.goto(`${url}${path}`);
      expect([path, await page.locator('form:not([method])').count()]).toEqual([path, 0]);
    }
  });
});
