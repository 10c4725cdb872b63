import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { dataDirectory } from '#contracts/data-directory';
import { mintToken } from '#identity/mint-token';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { closePages, inBrowser, missingBrowser, openBrowser, openWatchedPage } from '../support/browser.ts';
import { type Platform, startPlatform } from '../support/start-platform.ts';
import { startProcess } from '../support/start-process.ts';
import { actUntilReplaced } from './act-until-replaced.ts';
import { dropFiles } from './drop-files.ts';
import { hostileTexts } from './hostile-texts.ts';
import { makeCollection } from './make-collection.ts';
import { consoleOf, signIn } from './sign-in.ts';

const rights = {
  ...{ view: true, author: true, check: true, apply: true, administer: true },
  ...{ readsPolicies: true, readsModels: true },
};
const foreign = 'main :is(script, img, svg, iframe, b)';
const isMissing = missingPostgres !== undefined || missingBrowser !== undefined;

describe.skipIf(isMissing)(onPostgres(inBrowser('hostile texts and ended sessions in the console')), () => {
  const stack = new AsyncDisposableStack();
  let platform: Platform;
  let browser: Awaited<ReturnType<typeof openBrowser>>['browser'];

  beforeAll(async () => {
    platform = stack.use(await startPlatform({ management: true, console: true, retrieval: true, memory: true }));
    ({ browser } = stack.use(await openBrowser()));
  });
  afterEach(() => closePages(browser));
  afterAll(() => stack.disposeAsync());

  test('200 hostile texts in memories, collections and the playground execute nothing and stay texts', async () => {
    const { page, context, complaints } = await openWatchedPage(browser);
    await signIn(platform, page, { path: '/playground' });
    const { retrieval } = platform.status().addresses;
    const administrator = platform.status().administrators?.[0]?.split('|')[1] ?? '';
    const headers = { 'content-type': 'application/json', 'x-tenant-id': 'default', 'x-user-id': administrator };
    const texts = hostileTexts();
    for (const [at, text] of texts.entries()) {
      if (at % 10 !== 0) continue;
      const description = text.replaceAll('\u0000', '');
      const body = JSON.stringify({ name: `c-${at}`, description, embedding_profile_id: 'offline' });
      const made = await fetch(`${retrieval}/v1/collections`, { method: 'POST', headers, body });
      expect(made.status).toBe(201);
    }
    const elements = () => page.locator('main *').count();
    await page.goto(`${consoleOf(platform)}/knowledge`);
    expect(await page.locator('main :is(script, img, svg, iframe, b)').count()).toBe(0);
    expect(await page.locator('main tbody tr').count()).toBe(20);
    const csrf = (await page.locator('meta[name="csrf"]').getAttribute('content')) ?? '';
    await page.goto(`${consoleOf(platform)}/playground`);
    const policy = await page.getByLabel('Policy').inputValue();
    const before = await elements();
    for (const text of texts.slice(0, 20)) {
      await page.getByLabel('Text').fill(text);
      const check = page.getByRole('button', { name: 'Check the text' });
      await actUntilReplaced(page.locator('#outcome'), () => check.click());
    }
    expect(await elements()).toBeGreaterThan(before);
    expect(await page.locator('main :is(script, img, svg, iframe, b)').count()).toBe(0);
    await page.goto(`${consoleOf(platform)}/memory`);
    for (const text of texts) {
      await page.getByLabel('Search your memories').fill(text);
      await actUntilReplaced(page.locator('#found'), () => page.getByRole('button', { name: 'Search' }).click());
      expect(await page.locator('main :is(script, img, svg, iframe, b)').count()).toBe(0);
    }
    for (const text of texts.slice(0, 50)) {
      const sent = { headers: { origin: consoleOf(platform) }, form: { csrf, source: text, policy, return_to: text } };
      const saved = await context.request.post(`${consoleOf(platform)}/policies`, sent);
      expect(saved.status()).toBe(422);
      const led = await context.request.post(`${consoleOf(platform)}/preferences`, { ...sent, maxRedirects: 0 });
      expect(led.headers()['location']).toBe('/');
    }
    expect(await page.evaluate("'ran' in globalThis")).toBe(false);
    expect(complaints.filter((text) => !/status of (4|5)\d\d/.test(text))).toEqual([]);
  });

  test('200 hostile texts in the form of a policy and in the filters of the audit log execute nothing and stay texts', async () => {
    const { page, context, complaints } = await openWatchedPage(browser);
    const texts = hostileTexts().map((text) => text.replaceAll('\u0000', ''));
    await signIn(platform, page, { path: '/policies/new?as=form' });
    const answers = page.getByRole('region', { name: 'Rules for answers' });
    const rules = answers.getByRole('group');
    const before = await rules.count();
    await answers.getByRole('button', { name: 'Add a list of terms' }).click();
    await until('the added rule is shown', async () => (await rules.count()) === before + 1);
    const added = rules.last();
    await added.getByLabel('Id of the rule').fill(texts[0]?.slice(0, 128) ?? '');
    await added.getByLabel('Replacement').fill(texts[1] ?? '');
    await added.getByLabel('Terms, one in each line').fill(texts.join('\n'));
    await page.getByLabel('Name', { exact: true }).fill(texts[2]?.slice(0, 128) ?? '');
    await actUntilReplaced(page.locator('#check'), () =>
      page.getByLabel('Description').fill(texts.slice(3, 9).join(' ')),
    );
    await page.getByText('The definition cannot be applied').waitFor();
    expect(await page.locator(foreign).count()).toBe(0);
    await page.getByRole('button', { name: 'Edit as YAML' }).click();
    expect(await page.getByLabel('Definition (YAML)').inputValue()).toContain('globalThis.ran=1');
    await page.getByText('The definition cannot be applied').waitFor();
    expect(await page.locator(foreign).count()).toBe(0);
    for (const text of texts.slice(0, 20)) {
      const query = new URLSearchParams({ subject: text.slice(0, 255), targetId: text, since: text, action: text });
      await page.goto(`${consoleOf(platform)}/audit?${query}`);
      expect(await page.locator(foreign).count()).toBe(0);
      expect(await page.getByLabel('Id of the object').inputValue()).toBe(text.trim());
    }
    expect(await page.evaluate("'ran' in globalThis")).toBe(false);
    expect(complaints.filter((text) => !/status of (4|5)\d\d/.test(text))).toEqual([]);
    await context.close();
  });

  test('dropped files are uploaded, each with its state or the reason for its refusal, and markup in a name stays text', async () => {
    const { page, context, complaints } = await openWatchedPage(browser);
    const { collection_id: id } = await makeCollection(platform, { name: 'dropped', description: '' });
    await signIn(platform, page, { path: `/knowledge/${id}` });
    using folder = temporaryFolder();
    const name = '<img src=x onerror=globalThis.ran=1>.md';
    const others = ['<svg onload=globalThis.ran=1>.md', '<hx-partial hx-target="body">.md', "{{1}}' onfocus='x.md"];
    const file = join(folder.path, name);
    const pdf = join(folder.path, 'report.pdf');
    writeFileSync(file, 'A dropped text.');
    writeFileSync(pdf, Buffer.from([0x25, 0x50, 0x44, 0x46, 0xff, 0xfe]));
    await page.getByText('There is no document that you can read').waitFor();
    for (const one of others) writeFileSync(join(folder.path, one), `The text of ${others.indexOf(one)}.`);
    const dropped = [file, pdf, ...others.map((one) => join(folder.path, one))];
    await dropFiles(page, page.getByText('or drop them here'), dropped);
    await page.locator('#uploads').getByText('Can be found').nth(3).waitFor();
    expect(await page.locator('#uploads code').allInnerTexts()).toEqual([name, 'report.pdf', ...others]);
    await page.getByRole('alert').getByText('The file is not UTF-8 text').waitFor();
    await page.getByLabel('Question').fill('dropped');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.locator('ol.cards li').getByText('A dropped text.').waitFor();
    await page.reload();
    for (const one of [name, ...others]) await page.getByRole('rowheader').filter({ hasText: one }).first().waitFor();
    expect(await page.locator(foreign).count()).toBe(0);
    expect(await page.evaluate("'ran' in globalThis")).toBe(false);
    expect(complaints).toEqual([]);
    await context.close();
  });

  test('files that are added together are sent one by one: each has its own limit and result, and none replaces another one of them', async () => {
    const { page, context, complaints } = await openWatchedPage(browser);
    const { collection_id: id } = await makeCollection(platform, { name: 'several', description: '' });
    await signIn(platform, page, { path: `/knowledge/${id}` });
    const large = 'A line of a large text.\n'.repeat(100_000);
    const texts = [
      ...[
        ['notes.md', 'The notes of one folder.'],
        ['notes.md', 'The notes of another folder.'],
      ],
      ...[
        ['large-1.md', `1\n${large}`],
        ['large-2.md', `2\n${large}`],
        ['more.md', 'a'.repeat(4_194_305)],
      ],
    ] as const;
    const files = texts.map(([name, text]) => ({ name, mimeType: 'text/markdown', buffer: Buffer.from(text) }));
    const uploads = page.locator('#uploads');
    const sent: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST') sent.push(new URL(request.url()).pathname);
    });
    await page.getByLabel('Text or Markdown file').setInputFiles(files);
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await uploads.getByText('more.md').waitFor();
    await page.locator('#sending').waitFor({ state: 'hidden' });
    expect(await uploads.locator('code').allInnerTexts()).toEqual(texts.map(([name]) => name));
    expect(await uploads.getByRole('alert').allInnerTexts()).toEqual([
      expect.stringMatching(/another file has the same name.*notes\.md/s),
      expect.stringMatching(/The file is too large\s+A file can be at most 4 MiB\.\s+more\.md/),
    ]);
    expect(sent).toEqual(texts.map(() => `/knowledge/${id}/documents`));
    await page.getByLabel('Text or Markdown file').setInputFiles(files.slice(1, 2));
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await uploads.getByText('Replaces the document with this name.').waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });

  test('a session ends with its token, and a changed cookie is no session', async () => {
    const status = platform.status().addresses;
    const data = dataDirectory(platform.data);
    await using short = await startProcess({
      file: 'dataplane/console/main.ts',
      environment: {
        PORTCULLIS_COOKIE_KEY_FILE: data.cookieKey,
        PORTCULLIS_OIDC_ISSUER_URL: status.issuer ?? '',
        PORTCULLIS_MANAGEMENT_URL: status.management ?? '',
        PORTCULLIS_IDENTITY: 'development',
      },
    });
    const { createCookies } = await import('../../dataplane/console/sessions/cookies.ts');
    const { readCookieKey } = await import('../../dataplane/console/config.ts');
    const cookies = createCookies(readCookieKey(data.cookieKey), short.url);
    const subject = platform.status().administrators?.[0]?.split('|')[1] ?? '';
    const issuer = 'http://issuer.portcullis.localhost';
    const token = await mintToken({
      keyFile: data.signingKeys,
      issuer,
      subject,
      audience: 'portcullis',
      ttlSeconds: 600,
    });
    const session = { subject, token, csrf: 'c'.repeat(32), rights };
    const cookieOf = async (seconds: number): Promise<string> => {
      const kept = await cookies.keep({ ...session, expiresAt: Math.floor(Date.now() / 1_000) + seconds });
      return kept.map((one) => one.split(';')[0]).join('; ');
    };
    const [lasting, cookie] = [await cookieOf(600), await cookieOf(3)];
    const open = (header: string) =>
      fetch(`${short.url}/overview`, { headers: { cookie: header }, redirect: 'manual' });
    expect((await open(lasting)).status).toBe(200);
    const changed = lasting.replace(/=(.)/, (_, first: string) => `=${first === 'e' ? 'f' : 'e'}`);
    expect((await open(changed)).status).toBe(303);
    await until('the session has ended', async () => ((await open(cookie)).status === 303 ? true : undefined));
    const script = { cookie, 'hx-request': 'true' };
    expect((await fetch(`${short.url}/overview/events`, { headers: script, redirect: 'manual' })).status).toBe(401);
    const own = { cookie, origin: short.url, 'content-type': 'application/x-www-form-urlencoded' };
    const form = { method: 'POST', headers: own, body: `csrf=${session.csrf}`, redirect: 'manual' } as const;
    expect((await fetch(`${short.url}/policies`, form)).status).toBe(401);
  });
});
