import type { Locator, Page } from 'playwright-core';

/**
 * Drags files of this machine over an element and drops them there, as a person would: the browser makes the
 * DataTransfer.
 */
export async function dropFiles(page: Page, place: Locator, files: readonly string[]): Promise<void> {
  await place.scrollIntoViewIfNeeded();
  const box = await place.boundingBox();
  if (box === null) throw new Error('the place is not visible');
  const session = await page.context().newCDPSession(page);
  const at = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  const data = { items: [], files: [...files], dragOperationsMask: 1 };
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
    await session.send('Input.dispatchDragEvent', { type, ...at, data });
  await session.detach();
}
