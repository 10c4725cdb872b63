import type { Page } from 'playwright-core';

/**
 * Sends a message to the agent of a page. The form drops a message while an answer is open, so this waits until the answer
 * before has ended: its end returns the focus to the field of the message.
 */
export async function sayToAgent(page: Page, text: string): Promise<void> {
  const field = page.locator('#message');
  if ((await page.locator('.answer').count()) > 0) await page.locator('#message:focus').waitFor();
  await field.fill(text);
  await page.locator('form.chat button:not([type])').click();
}
