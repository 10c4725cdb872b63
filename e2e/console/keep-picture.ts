import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';

/** Saves a picture of the whole page in the folder of PORTCULLIS_PICTURES, if this variable is set. */
export async function keepPicture(page: Page, name: string): Promise<void> {
  const folder = process.env['PORTCULLIS_PICTURES'];
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  // Ids differ between runs, and would make other names each time.
  const file = `${name.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'id').replaceAll(/[^A-Za-z0-9]+/g, '-')}.png`;
  await page.screenshot({ path: join(folder, file), fullPage: true });
}
