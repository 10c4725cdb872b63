import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { overviewSchema } from '#contracts/overview';
import { until } from '#kit/testing/until';
import { kinds } from '#resources/kinds';
import type { ModelBinding } from '#resources/model-binding';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { closePages, inBrowser, missingBrowser, openBrowser, openWatchedPage } from '../support/browser.ts';
import { type Platform, startPlatform } from '../support/start-platform.ts';
import { callManagement } from './call-management.ts';
import { measurePage } from './measure-page.ts';
import { consoleOf, signIn } from './sign-in.ts';

const isMissing = missingPostgres !== undefined || missingBrowser !== undefined;
/** Models in addition to the example: disabled models, and models whose revision does not exist. */
const [wellModels, brokenModels] = [250, 50];
const nameOf = (at: number) => `a-model-${String(at).padStart(3, '0')}`;

describe.skipIf(isMissing)(onPostgres(inBrowser('the overview of hundreds of models')), () => {
  const parts = new AsyncDisposableStack();
  let platform: Platform;
  let browser: Awaited<ReturnType<typeof openBrowser>>['browser'];

  beforeAll(async () => {
    platform = parts.use(await startPlatform({ management: true, console: true }));
    ({ browser } = parts.use(await openBrowser()));
    const example = await platform.client.get<ModelBinding>(kinds.modelBinding, 'guarded-echo');
    if (example === undefined) throw new Error('the example has no binding');
    const { apiVersion, kind, spec } = example;
    for (let at = 0; at < wellModels + brokenModels; at += 1) {
      const name = nameOf(at);
      const copy = structuredClone({ ...spec, model: { ...spec.model, alias: name } });
      if (at < wellModels) Object.assign(copy.model, { state: 'Disabled' });
      else if (copy.guardrail.mode === 'Policy') Object.assign(copy.guardrail.policyRef, { revision: 99 });
      await platform.client.create(kinds.modelBinding, { apiVersion, kind, metadata: { name }, spec: copy });
    }
    await until('every broken model needs attention', async () => {
      const overview = overviewSchema.parse(
        await callManagement(platform, { method: 'GET', path: '/api/v1/overview' }),
      );
      return overview.models.filter(({ isWell, name }) => !isWell && name >= nameOf(wellModels)).length >= brokenModels;
    });
  });
  afterEach(() => closePages(browser));
  afterAll(() => parts.disposeAsync());

  test.each(['en', 'ru'])(
    'the first page of the overview takes at most 150 KB over the wire and 20 requests in the language %s',
    async (locale) => {
      const { page, context } = await openWatchedPage(browser, { locale });
      await signIn(platform, page, { path: '/playground' });
      const { bytes, requests } = await measurePage(context, `${consoleOf(platform)}/overview`);
      expect(bytes).toBeGreaterThan(30_000);
      expect(bytes).toBeLessThanOrEqual(150_000);
      expect(requests).toBeLessThanOrEqual(20);
    },
  );

  test('each model is on one page of the overview, models that need attention have separate pages, and a change appears on the page of its model', async () => {
    const { page, complaints } = await openWatchedPage(browser);
    await signIn(platform, page, { path: '/overview' });
    const rows = page.locator('[aria-labelledby="models"] tbody tr');
    const cards = page.locator('[aria-labelledby="attention"] li.card');
    const next = page.locator('[aria-labelledby="models"]').getByRole('link', { name: 'Next page' });
    expect([await rows.count(), await cards.count()]).toEqual([40, 10]);
    const seen: string[] = [];
    for (let number = 1; ; number += 1) {
      const names = await rows.evaluateAll(idsOf);
      seen.push(...z.array(z.string()).parse(names));
      if ((await next.count()) === 0) break;
      await next.click();
      await page.waitForURL(new RegExp(`models=${number + 1}$`));
      await rows.first().waitFor();
    }
    expect(seen).toHaveLength(wellModels + brokenModels + 1);
    expect(new Set(seen).size).toBe(seen.length);
    await page.getByRole('row', { name: /guarded-echo/ }).waitFor();
    await page.evaluate(() => Object.assign(globalThis, { isOldPage: true }));
    await platform.client.patch(kinds.modelBinding, 'guarded-echo', [
      { op: 'replace', path: '/spec/model/state', value: 'Disabled' },
    ]);
    await page
      .getByRole('row', { name: /guarded-echo/ })
      .getByText('Disabled')
      .waitFor();
    expect(await page.evaluate(() => 'isOldPage' in globalThis)).toBe(true);
    await page.locator('[aria-labelledby="attention"]').getByRole('link', { name: 'Next page' }).click();
    await page.waitForURL(/attention=2&models=8$/);
    await page.getByText('11 to 20 of 50.').waitFor();
    await page.getByRole('row', { name: /guarded-echo/ }).waitFor();
    expect(complaints).toEqual([]);
  });

  test('a search shows the models with the text in their names on each of its pages, and a change of them without a reload', async () => {
    const { page, complaints } = await openWatchedPage(browser);
    await signIn(platform, page, { path: '/overview' });
    const search = page.getByRole('searchbox', { name: 'Alias or name of a model' });
    await search.fill('GUARDED-e');
    await page.getByRole('button', { name: 'Find' }).click();
    await page.waitForURL(/find=guarded-e$/i);
    const rows = page.locator('[aria-labelledby="models"] tbody tr');
    await page.getByRole('row', { name: /guarded-echo/ }).waitFor();
    expect(await rows.count()).toBe(1);
    await platform.client.patch(kinds.modelBinding, 'guarded-echo', [
      { op: 'replace', path: '/spec/model/state', value: 'Enabled' },
    ]);
    await page
      .getByRole('row', { name: /guarded-echo/ })
      .getByText('Applied')
      .first()
      .waitFor();
    expect(await rows.count()).toBe(1);
    await page.getByText('None of the models found needs attention.').waitFor();
    await search.fill('no such <b>model</b>');
    await search.press('Enter');
    await page.getByText('No model has this text in its alias or name').waitFor();
    await page.getByRole('link', { name: 'All models' }).click();
    await page.waitForURL(/\/overview$/);
    await rows.nth(39).waitFor();
    expect(complaints).toEqual([]);
  });
});

type Row = { readonly id: string };
const idsOf = (rows: readonly Row[]): readonly string[] => rows.map(({ id }) => id);
