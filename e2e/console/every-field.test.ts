import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inBrowser, missingBrowser } from '../support/browser.ts';
import { type HostileConsole, hostileId, hostilePages, openHostileConsole } from './open-hostile-console.ts';

/** Texts of each member of each answer; the figure console-texts takes all 200. */
const turns = [0, 100];

describe.skipIf(missingBrowser !== undefined)(inBrowser('hostile texts in every field of every answer'), () => {
  let hostile: HostileConsole;

  beforeAll(async () => {
    hostile = await openHostileConsole();
  });
  afterAll(() => hostile[Symbol.asyncDispose]());

  test.each(hostilePages)('the page %s shows every text of its answers as text', async (path) => {
    const { page, complaints, state } = hostile;
    const before = complaints.length;
    for (const turn of turns) {
      state.turn = turn;
      expect([path, turn, await hostile.visit(path)]).toEqual([path, turn, { status: 200, problems: [] }]);
    }
    if (path !== '/policies/new') expect(await page.locator('main').innerHTML()).toContain('globalThis.ran=1');
    expect(complaints.slice(before)).toEqual([]);
  });

  test('refusals with hostile codes, messages and places are shown as text on every page', async () => {
    const { page, state } = hostile;
    state.refuse = true;
    try {
      for (const path of hostilePages) {
        expect([path, (await hostile.visit(path)).problems]).toEqual([path, []]);
        if (path !== '/policies/new') expect(await page.locator('main').innerHTML()).toContain('globalThis.ran=1');
      }
    } finally {
      state.refuse = false;
    }
  });

  test('a check, a search and a conversation show every text of their answers as text', async () => {
    const { page, complaints, url } = hostile;
    const before = complaints.length;
    await page.goto(`${url}/playground`);
    await page.locator('textarea').fill('Hello');
    await page.getByRole('button', { name: 'Check the text' }).click();
    await page.getByRole('heading', { name: 'Decision' }).waitFor();
    expect(await hostile.problems()).toEqual([]);
    await page.goto(`${url}/knowledge/${hostileId}`);
    await page.locator('main [type="search"]').fill('Hello');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.locator('ol.cards li').first().waitFor();
    expect(await hostile.problems()).toEqual([]);
    await page.goto(`${url}/agents/${hostileId}`);
    await page.locator('textarea').fill('Hello');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.locator('.answer .notice').waitFor();
    expect(await page.locator('.answer .said').innerText()).toContain('globalThis.ran=1');
    expect(await hostile.problems()).toEqual([]);
    expect(complaints.slice(before)).toEqual([]);
    await page.evaluate("document.querySelector('main').append(document.createElement('b'))");
    expect(await hostile.problems()).toEqual(['<b></b>']);
  });
});
