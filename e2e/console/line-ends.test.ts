import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inBrowser, missingBrowser } from '../support/browser.ts';
import { type HostileConsole, openHostileConsole } from './open-hostile-console.ts';

const lines = '\n first\n\nsecond\n';

describe.skipIf(missingBrowser !== undefined)(inBrowser('texts with line ends in forms'), () => {
  let shown: HostileConsole;

  beforeAll(async () => {
    shown = await openHostileConsole({ texts: [lines] });
  });
  afterAll(() => shown[Symbol.asyncDispose]());

  test('a description, a replacement and terms stay the same after the form of a policy', async () => {
    const { page, url } = shown;
    await page.goto(`${url}/policies/new?recipe=personal-data`);
    const editor = page.getByLabel('Definition (YAML)');
    const text = JSON.stringify(lines);
    const source = (await editor.inputValue())
      .replace(/^description: .*$/m, `description: ${text}`)
      .replace(/replacement: .*$/m, `replacement: ${text}`);
    await editor.fill(source);
    await page.getByRole('button', { name: 'Edit as a form' }).click();
    expect(await page.getByLabel('Description').inputValue()).toBe(lines);
    const replacements = await page.getByLabel('Replacement').evaluateAll(valuesOf);
    expect(replacements).toContain(lines);
    await page.getByRole('button', { name: 'Edit as YAML' }).click();
    const after = await editor.inputValue();
    await page.getByRole('button', { name: 'Edit as a form' }).click();
    expect(await page.getByLabel('Description').inputValue()).toBe(lines);
    await page.getByRole('button', { name: 'Edit as YAML' }).click();
    expect(await editor.inputValue()).toBe(after);
  });

  test('a memory that is saved without a change is sent unchanged', async () => {
    const { page, url } = shown;
    await page.goto(`${url}/memory`);
    const row = page.locator('tbody tr').first();
    await row.getByText('Correct').click();
    expect(await row.getByLabel('Memory').inputValue()).toBe(lines);
    const sent = page.waitForRequest((request) => request.method() === 'POST');
    await row.getByRole('button', { name: 'Save' }).click();
    expect(new URLSearchParams((await sent).postData() ?? '').get('text')?.replaceAll('\r\n', '\n')).toBe(lines);
  });
});

const valuesOf = (fields: readonly { readonly value?: string }[]): readonly string[] =>
  fields.map(({ value = '' }) => value);
