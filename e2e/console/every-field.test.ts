import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inBrowser, missingBrowser } from '../support/browser.ts';
import { replacedText } from './hostile-apis.ts';
import { type HostileConsole, hostileId, hostilePages, openHostileConsole } from './open-hostile-console.ts';

/** Texts of each member of each answer, an even and an odd turn; the figure console-texts takes all 200. */
const turns = [0, 101];

type Picture = { readonly naturalHeight: number };

describe.skipIf(missingBrowser !== undefined)(inBrowser('hostile texts in every field of every answer'), () => {
  let hostile: HostileConsole;

  beforeAll(async () => {
    hostile = await openHostileConsole();
  });
  afterAll(() => hostile[Symbol.asyncDispose]());

  test.each(hostilePages)('the page %s shows every text of its answers as plain text', async (path) => {
    const { page, complaints, state } = hostile;
    const before = complaints.length;
    for (const turn of turns) {
      state.turn = turn;
      expect([path, turn, await hostile.visit(path)]).toEqual([path, turn, { status: 200, problems: [] }]);
    }
    if (path !== '/policies/new') expect(await page.locator('main').innerHTML()).toContain('globalThis.ran=1');
    expect(complaints.slice(before)).toEqual([]);
  });

  test('refusals with hostile codes, messages and places are shown as plain text on every page', async () => {
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

  test('the tests of a policy and the graph of a flow show hostile texts as plain text', async () => {
    const { page, state } = hostile;
    state.turn = 101;
    await hostile.visit(`/policies/${hostileId}`);
    const tests = page.locator('[aria-labelledby="tests"] tbody');
    expect(await tests.locator('th').allInnerTexts()).toHaveLength(3);
    expect(await tests.innerText()).toContain('globalThis.ran=1');
    const version = `/agents/${hostileId}/versions/${hostileId}`;
    for (const path of [`${version}/flow`, `${version}/runs/${hostileId}`]) {
      await hostile.visit(path);
      const heights = await page.locator('main p.graph img').evaluateAll(heightsOf);
      expect([path, heights.length, heights.every((height) => height > 50)]).toEqual([path, 1, true]);
      expect(await hostile.problems()).toEqual([]);
    }
  });

  test.each(turns)('answers of commands are shown as plain text, in the turn %i', async (turn) => {
    const { page, state, url } = hostile;
    state.turn = turn;
    const isFailed = turn % 2 === 0;
    const clickOf = (name: string) => page.locator('main').getByRole('button', { name, exact: true }).first().click();
    /** Opens a page, acts, and waits for the page of the answer. */
    const act = async (path: string, send: () => Promise<void>, answered: string | RegExp) => {
      await page.goto(`${url}${path}`);
      const isAnswered = page.waitForResponse(
        (one) => one.request().isNavigationRequest() && one.request().method() === 'POST',
      );
      await send();
      const [method, status] = [(await isAnswered).request().method(), (await isAnswered).status()];
      await page.waitForURL(answered);
      await page.waitForLoadState();
      expect([path, method, await hostile.problems()]).toEqual([path, 'POST', []]);
      return status;
    };
    const policy = `/policies/${hostileId}`;
    for (const editor of [`${policy}/edit`, `${policy}/edit?as=form`, '/policies/new']) {
      const status = await act(editor, () => clickOf('Save as a new revision'), /\/policies/);
      expect([editor, status]).toEqual([editor, isFailed ? 422 : 303]);
      if (isFailed) expect(await page.getByRole('alert').innerText()).toContain('provider_unknown');
    }
    const apply = async (): Promise<void> => {
      await page.locator('select[name="model"]').selectOption({ index: 1 });
      await clickOf('Apply');
    };
    let applied = await act(policy, apply, /apply$|overview/);
    // Another application was made meanwhile: the page shows it and asks again.
    if (applied === 409) {
      const again = page.waitForNavigation();
      await page.locator('main form[action$="/apply"] button').click();
      applied = (await again)?.status() === 422 ? 422 : 303;
      expect(await hostile.problems()).toEqual([]);
    }
    expect(applied).toBe(isFailed ? 422 : 303);
    const collection = `/knowledge/${hostileId}`;
    await act(collection, () => clickOf('Build the index again'), `${url}${collection}`);
    await act('/memory', correct, `${url}/memory`);
    await act(`/memory/${hostileId}/delete`, () => clickOf('Delete this memory'), `${url}/memory`);
    await act('/memory', erase, /erase$/);
    expect(await page.getByText('Everything about you was erased').count()).toBe(1);

    async function correct(): Promise<void> {
      await page.getByText('Correct').first().click();
      await clickOf('Save');
    }
    async function erase(): Promise<void> {
      const name = (await page.locator('details.person summary').innerText()).trim();
      await page.getByLabel('Your name').fill(name);
      await clickOf('Erase everything about me');
    }
  });

  test.each(turns)(
    'files with hostile names show the states of their jobs as plain text, in the turn %i',
    async (turn) => {
      const { page, state, url } = hostile;
      state.turn = turn;
      await page.goto(`${url}/knowledge/${hostileId}`);
      const names = ['<b>1</b>.md', '"><script>globalThis.ran=1</script>.md', "' onmouseover='globalThis.ran=1.md"];
      await page
        .getByLabel('Text or Markdown file')
        .setInputFiles(names.map((name) => ({ name, mimeType: 'text/markdown', buffer: Buffer.from(name) })));
      await page.getByRole('button', { name: 'Add', exact: true }).click();
      await page.locator('#sending').waitFor({ state: 'hidden' });
      await page.locator('#uploads code').nth(2).waitFor();
      expect(await hostile.problems()).toEqual([]);
    },
  );

  test('a check, a search and a conversation show every text of their answers as plain text', async () => {
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
    const said = await page.locator('.answer .said').innerText();
    expect(said).toContain('globalThis.ran=1');
    expect(said).toContain('The agent sent a file: ');
    expect(said).not.toContain(replacedText);
    expect(await hostile.problems()).toEqual([]);
    expect(complaints.slice(before)).toEqual([]);
    await page.evaluate("document.querySelector('main').append(document.createElement('b'))");
    expect(await hostile.problems()).toEqual(['<b></b>']);
  });
});

const heightsOf = (images: readonly Picture[]): readonly number[] => images.map(({ naturalHeight }) => naturalHeight);
