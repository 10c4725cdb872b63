import { expect, test } from 'vitest';
import { inBrowser, missingBrowser } from '../support/browser.ts';
import { openHostileConsole } from './open-hostile-console.ts';

test.skipIf(missingBrowser !== undefined)(
  inBrowser('the choice of a theme asks before a page with typed text is loaded again, and only then'),
  async () => {
    await using shown = await openHostileConsole({ texts: ['answer'] });
    const { page, url, complaints } = shown;
    const choose = async (theme: string) => {
      await page.locator('details.person summary').click();
      await page.getByLabel('Theme').selectOption(theme);
      await page.locator('form[action="/preferences"] button').click();
    };
    await page.goto(`${url}/policies/new`);
    await choose('dark');
    await page.locator('html[data-theme="dark"]').waitFor();
    await page.waitForLoadState();
    expect(complaints).toEqual([]);
    const source = page.getByLabel('Definition (YAML)');
    await source.fill('name: typed');
    await choose('light');
    expect(complaints).toEqual([expect.stringContaining('without what you have typed')]);
    expect(await source.inputValue()).toBe('name: typed');
    expect(await page.locator('html').getAttribute('data-theme')).toBe('dark');
    // The answer to a save that was refused has the text, and no address that shows it again.
    await page.getByRole('button', { name: 'Save as a new revision' }).click();
    await page.getByRole('alert').waitFor();
    await choose('light');
    expect(complaints.filter((text) => text.startsWith('dialog '))).toHaveLength(2);
    expect(await source.inputValue()).toBe('name: typed');
  },
);
