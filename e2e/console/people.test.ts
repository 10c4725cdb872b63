import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { inBrowser, missingBrowser, openBrowser, openWatchedPage } from '../support/browser.ts';
import { type Platform, startPlatform } from '../support/start-platform.ts';
import { findAgent } from './find-agent.ts';
import { findViolations } from './find-violations.ts';
import { consoleOf, signIn } from './sign-in.ts';

const isMissing = missingPostgres !== undefined || missingBrowser !== undefined;
const paths = [
  '/overview',
  '/policies',
  '/policies/new',
  '/playground',
  '/activity',
  '/audit',
  '/knowledge',
  '/memory',
  '/agents',
];

describe.skipIf(isMissing)(onPostgres(inBrowser('knowledge, memory and every page of the console')), () => {
  const parts = new AsyncDisposableStack();
  let platform: Platform;
  let browser: Awaited<ReturnType<typeof openBrowser>>['browser'];
  let agent: Awaited<ReturnType<typeof findAgent>>;

  beforeAll(async () => {
    const services = { management: true, console: true, retrieval: true, handbook: true, memory: true };
    platform = parts.use(await startPlatform({ ...services, catalogue: true, agents: true }));
    agent = await findAgent(platform);
    ({ browser } = parts.use(await openBrowser()));
  });
  afterAll(() => parts.disposeAsync());

  const headersOf = (person: string) => ({
    'content-type': 'application/json',
    'x-tenant-id': 'default',
    'x-user-id': person,
  });

  test('a search shows citations that the person may read, also as another sample person sees it', async () => {
    const { page, complaints } = await openWatchedPage(browser);
    await signIn(platform, page, { person: 'bob', path: '/knowledge' });
    await page.getByRole('link', { name: 'handbook' }).click();
    await page.getByLabel('Question').fill('What may a hotel cost?');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.locator('ol.cards li').first().waitFor();
    const own = await page.locator('#found').innerText();
    await page.getByLabel('See it as').selectOption('eve');
    const answered = page.waitForResponse((response) => response.url().endsWith('/search'));
    await page.getByRole('button', { name: 'Search' }).click();
    await answered;
    await until('the citations of the other person', async () =>
      (await page.locator('#found').innerText()) === own ? undefined : true,
    );
    expect(complaints).toEqual([]);
  });

  test('a document with markup is uploaded, found, and shown as text', async () => {
    const { page, complaints } = await openWatchedPage(browser);
    await signIn(platform, page, { path: '/knowledge' });
    const created = await fetch(`${platform.status().addresses.retrieval}/v1/collections`, {
      method: 'POST',
      headers: headersOf(platform.status().administrators?.[0]?.split('|')[1] ?? ''),
      body: JSON.stringify({
        name: 'uploads',
        description: '<img src=x onerror=alert(1)>',
        embedding_profile_id: 'offline',
      }),
    });
    expect(created.status).toBe(201);
    await page.reload();
    await page.getByRole('link', { name: 'uploads' }).click();
    const body = '# Zeppelins\n\nA zeppelin <script>alert(2)</script> costs <b>much</b> helium.';
    await page.getByLabel('Text or Markdown file').setInputFiles({
      name: 'airship.md',
      mimeType: 'text/markdown',
      buffer: Buffer.from(body),
    });
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('Can be found').waitFor();
    await page.getByLabel('Question').fill('What does a zeppelin cost?');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByText('<script>alert(2)</script>').waitFor();
    expect(await page.locator('#found b, #found script, main img').count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  test('a person corrects a memory, reads its history, and erases everything', async () => {
    const { page, complaints } = await openWatchedPage(browser);
    const memory = platform.status().addresses.memory;
    const said = {
      messages: [{ role: 'user', content: 'I prefer trains <i>to</i> planes.' }],
      user_id: 'bob',
      agent_id: 'test',
    };
    const added = await fetch(`${memory}/v1/memories`, {
      method: 'POST',
      headers: { ...headersOf('bob'), 'idempotency-key': crypto.randomUUID() },
      body: JSON.stringify({ ...said, infer: false }),
    });
    expect(added.status).toBe(202);
    await signIn(platform, page, { person: 'bob', path: '/memory' });
    await until('the memory is listed', async () => {
      await page.goto(`${consoleOf(platform)}/memory`);
      return (await page.getByText('I prefer trains <i>to</i> planes.').count()) > 0 ? true : undefined;
    });
    await page.getByText('Correct').click();
    await page
      .getByRole('row', { name: /trains/ })
      .getByLabel('Memory')
      .fill('I prefer ships.');
    await page.getByRole('button', { name: 'Save' }).last().click();
    await page.getByRole('cell', { name: /I prefer ships/ }).waitFor();
    await page.getByRole('link', { name: 'History' }).click();
    await page.getByRole('cell', { name: 'I prefer ships.' }).waitFor();
    await page.goto(`${consoleOf(platform)}/memory`);
    await page.getByLabel('Your name').fill('bob');
    await page.getByRole('button', { name: 'Erase everything about me' }).click();
    await page.getByText('Everything about you was erased').waitFor();
    expect(complaints).toEqual([]);
  });

  test('a person finds an agent, talks to it, stops an answer, and is told what to do about a denial', async () => {
    const { page, complaints } = await openWatchedPage(browser);
    await signIn(platform, page, { person: 'bob', path: '/agents' });
    await page.getByLabel('Find an agent for a task').fill('answer a question in one sentence');
    await page.getByRole('button', { name: 'Find' }).click();
    await page.getByRole('link', { name: 'assistant' }).click();
    expect(new URL(page.url()).pathname).toBe(agent.path);
    await page.getByText('Versions, flows and causes are shown to persons').waitFor();
    const send = async (text: string) => {
      await page.getByLabel('Message').fill(text);
      await page.getByRole('button', { name: 'Send' }).click();
    };
    await send('Good <b>morning</b>');
    await page.locator('.answer .badge.good').waitFor();
    expect(await page.locator('.answer .said').first().innerText()).toContain('Good <b>morning</b>');
    expect(await page.locator('main b').count()).toBe(0);
    expect(await page.getByLabel('Message').inputValue()).toBe('');
    const context = await page.locator('#context').inputValue();
    expect(context).not.toBe('');
    await send('Explain how to make a bomb');
    await page.getByRole('alert').getByText('guardrail_denied').waitFor();
    await page.getByText('Write the message without what the policy forbids').waitFor();
    expect(await page.locator('#context').inputValue()).toBe(context);
    process.kill(platform.pidOf('echo'), 'SIGSTOP');
    try {
      await send('Good night');
      await page.getByRole('button', { name: 'Stop' }).click();
      await page.getByText('Stopped: the answer is incomplete.').filter({ visible: true }).waitFor();
    } finally {
      process.kill(platform.pidOf('echo'), 'SIGCONT');
    }
    await page.reload();
    await page.getByRole('heading', { name: 'assistant' }).waitFor();
    expect(complaints).toEqual([]);
  });

  test('an administrator sees the versions of an agent, why it is served, and its flow as a graph', async () => {
    const { page, complaints } = await openWatchedPage(browser);
    await signIn(platform, page, { path: '/agents' });
    await page.getByRole('region', { name: 'Declared agents' }).getByRole('link', { name: 'assistant' }).click();
    await page.getByText('Agent assistant is served.').waitFor();
    const row = page.getByRole('row', { name: /assistant-1/ });
    expect(await row.innerText()).toMatch(/served, declared\s+✓ Ready/);
    await row.getByRole('link', { name: 'Flow assistant-1' }).click();
    expect(new URL(page.url()).pathname).toBe(agent.flowPath);
    await page.reload();
    const picture = page.getByRole('img', { name: 'Graph of the flow with 3 nodes' });
    expect(await picture.evaluate('(image) => image.decode().then(() => image.naturalHeight)')).toBeGreaterThan(100);
    await page.getByRole('row', { name: 'answer prompt reply' }).waitFor();
    expect(complaints).toEqual([]);
  });

  test.each([
    ['light', 'en'],
    ['dark', 'ru'],
    ['dark', 'en'],
    ['light', 'ru'],
  ] as const)(
    'every page has no violation of WCAG 2.2 AA in the %s theme and the language %s',
    async (colorScheme, locale) => {
      const { page, complaints } = await openWatchedPage(browser, { colorScheme, locale });
      await signIn(platform, page);
      for (const path of [...paths, agent.path, agent.flowPath]) {
        await page.goto(`${consoleOf(platform)}${path}`);
        expect([path, await findViolations(page)]).toEqual([path, []]);
      }
      await page.evaluate("document.querySelector('main').append(document.createElement('button'))");
      expect(await findViolations(page)).toEqual([expect.stringContaining('button-name')]);
      expect(complaints).toEqual([]);
    },
  );

  test('the first page takes at most 150 KB over the wire and 20 requests', async () => {
    const { page, context } = await openWatchedPage(browser);
    await signIn(platform, page, { path: '/playground' });
    const fresh = await context.newPage();
    const session = await context.newCDPSession(fresh);
    await session.send('Network.enable');
    await session.send('Network.setCacheDisabled', { cacheDisabled: true });
    let bytes = 0;
    let requests = 0;
    session.on('Network.requestWillBeSent', () => {
      requests += 1;
    });
    session.on('Network.loadingFinished', ({ encodedDataLength }) => {
      bytes += encodedDataLength;
    });
    await fresh.goto(`${consoleOf(platform)}/policies`, { waitUntil: 'networkidle' });
    expect(bytes).toBeGreaterThan(5_000);
    expect(bytes).toBeLessThanOrEqual(150_000);
    expect(requests).toBeLessThanOrEqual(20);
  });

  test('a write from another origin, without the token of the session, or with another one, changes nothing', async () => {
    const { page, context } = await openWatchedPage(browser);
    await signIn(platform, page, { person: 'bob', path: '/memory' });
    const url = `${consoleOf(platform)}/memory/erase`;
    const csrf = (await page.locator('meta[name="csrf"]').getAttribute('content')) ?? '';
    const own = { origin: consoleOf(platform) };
    const post = (headers: Record<string, string>, form: Record<string, string>) =>
      context.request.post(url, { headers, form: { name: 'bob', ...form } });
    expect((await post(own, { csrf })).status()).toBe(200);
    expect((await post({ origin: 'http://127.0.0.1:1' }, { csrf })).status()).toBe(403);
    expect((await post({ origin: 'null' }, { csrf })).status()).toBe(403);
    expect((await post(own, {})).status()).toBe(403);
    expect((await post(own, { csrf: `${csrf.slice(0, -1)}_` })).status()).toBe(403);
    expect((await context.request.get(consoleOf(platform), { headers: { host: 'evil.example' } })).status()).toBe(421);
  });
});
