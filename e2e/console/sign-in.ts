import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { dataDirectory } from '#contracts/data-directory';
import type { Platform } from '../support/start-platform.ts';

/** The address of the console of a platform. */
export function consoleOf(platform: Platform): string {
  const { console: url } = platform.status().addresses;
  if (url === undefined) throw new Error('the platform has no console');
  return url;
}

export function signInCodeOf(platform: Platform): string {
  return readFileSync(dataDirectory(platform.data).signInCode, 'utf8').trim();
}

/** Opens a page of the console and signs a person in, as a person would. */
export async function signIn(
  platform: Platform,
  page: Page,
  options: { readonly person?: string; readonly path?: string } = {},
): Promise<void> {
  await page.goto(`${consoleOf(platform)}${options.path ?? '/'}`);
  if (options.person !== undefined) await page.getByLabel(options.person).check();
  await page.getByRole('textbox').fill(signInCodeOf(platform));
  await page.getByRole('button').click();
  await page.waitForURL(`${consoleOf(platform)}/**`);
}
