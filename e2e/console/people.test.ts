import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { tracedRunListSchema } from '#contracts/agent-runs';
import { operationSchema } from '#contracts/management';
import { collectionSchema } from '#contracts/retrieval';
import { until } from '#kit/testing/until';
import type { Agent } from '#resources/agent';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { idLabel, kinds } from '#resources/kinds';
import type { ModelBinding } from '#resources/model-binding';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { readPolicySource, readRecipes } from '../../dataplane/console/clients/policy-source.ts';
import { closePages, inBrowser, missingBrowser, openBrowser, openWatchedPage } from '../support/browser.ts';
import { chatCall } from '../support/chat-call.ts';
import { type Platform, startPlatform } from '../support/start-platform.ts';
import { actUntilReplaced } from './act-until-replaced.ts';
import { callManagement } from './call-management.ts';
import { findAgent } from './find-agent.ts';
import { findViolations } from './find-violations.ts';
import { addHostileAgent } from './hostile-agent.ts';
import { hostileTexts } from './hostile-texts.ts';
import { keepPicture } from './keep-picture.ts';
import { findKeyboardProblems, tabTo } from './keyboard.ts';
import { changeWriter, makeCollection } from './make-collection.ts';
import { measurePage } from './measure-page.ts';
import { changeRole, matrixRowOf, type Role } from './role-matrix.ts';
import { sayToAgent } from './say-to-agent.ts';
import { addRevision, shownResults } from './shown-results.ts';
import { consoleOf, signIn } from './sign-in.ts';

const isMissing = missingPostgres !== undefined || missingBrowser !== undefined;
const paths = [
  '/overview',
  '/policies',
  '/policies/new',
  '/playground',
  '/activity',
  '/operations',
  '/approvals',
  '/audit',
  '/knowledge',
  '/memory',
  '/agents',
];

type Actions = Awaited<ReturnType<typeof matrixRowOf>>['allowed'];
/** The pages and actions that a person with these roles sees. */
type ExpectedRow = {
  readonly name?: string;
  readonly roles?: readonly Role[];
  /** Whether the person may write into the collection. */
  readonly isWriter?: true;
  readonly navigation: readonly string[];
  readonly may: Actions;
  /** The actions that the pages show; if absent, the same as `may`. */
  readonly shows?: Actions;
  readonly models?: readonly string[];
};

const languages = ['en', 'ru'] as const;

type Picture = { decode(): Promise<void>; readonly naturalHeight: number };
const heightOf = (image: Picture): Promise<number> => image.decode().then(() => image.naturalHeight);

describe.skipIf(isMissing)(onPostgres(inBrowser('knowledge, memory and every page of the console')), () => {
  const parts = new AsyncDisposableStack();
  let platform: Platform;
  let browser: Awaited<ReturnType<typeof openBrowser>>['browser'];
  let agent: Awaited<ReturnType<typeof findAgent>>;
  let policyId = '';
  let operation = '';
  /** The page of a policy that guards no model. */
  let recipePath = '';
  let every: readonly string[] = [];
  let collectionPath = '';

  beforeAll(async () => {
    const services = { management: true, console: true, retrieval: true, handbook: true, memory: true };
    platform = parts.use(
      await startPlatform({
        ...services,
        catalogue: true,
        agents: true,
        environment: { PORTCULLIS_HUNG_AFTER_SECONDS: '3600' },
      }),
    );
    agent = await findAgent(platform);
    const policy = await platform.client.get<GuardrailPolicy>(kinds.guardrailPolicy, 'guarded-chat');
    policyId = policy?.metadata.labels?.[idLabel] ?? '';
    const listed = await fetch(`${platform.status().addresses.retrieval}/v1/collections`, {
      headers: headersOf('bob'),
    });
    const [collection] = z.array(collectionSchema).parse(await listed.json());
    const ofPolicy = ['', '/edit', '/diff?from=1&to=1'].map((end) => `/policies/${policyId}${end}`);
    collectionPath = `/knowledge/${collection?.collection_id}`;
    every = [...paths, ...ofPolicy, collectionPath, agent.path, agent.flowPath];
    const forms = ['/policies/new?as=form', `/policies/${policyId}/edit?as=form`];
    const history = await addMemory();
    every = [
      ...every,
      history,
      history.replace(/history$/, 'delete'),
      ...(await addRun()),
      '/runbooks',
      '/runbooks/binding-failed',
      ...forms,
    ];
    operation = `/operations/${await createPolicy()}`;
    const comparison = await addRevision(platform, 'recipe-competitors');
    recipePath = comparison.replace(/\/diff.*/, '');
    every = [...every, operation, comparison];
    const { gateway: url } = platform.status().addresses;
    await chatCall({ url, key: platform.key, model: 'guarded-echo', content: 'Good morning', stream: false });
    ({ browser } = parts.use(await openBrowser()));
  });
  afterEach(() => closePages(browser));
  afterAll(() => parts.disposeAsync());

  const headersOf = (person: string) => ({
    'content-type': 'application/json',
    'x-tenant-id': 'default',
    'x-user-id': person,
  });

  /** Creates a policy as the administrator; the id of the operation. */
  async function createPolicy(): Promise<string> {
    const read = readPolicySource(readRecipes().get('competitors') ?? '');
    if (!read.ok) throw new Error(read.problems.join(' '));
    const headers = { 'idempotency-key': crypto.randomUUID() };
    const call = { method: 'POST', path: '/api/v1/guardrail-policies', body: read.value, headers } as const;
    return operationSchema.parse(await callManagement(platform, call)).operationId;
  }

  /** Calls the agent as the administrator; returns the pages of its runs. */
  async function addRun(): Promise<readonly string[]> {
    const { gateway } = platform.status().addresses;
    const person = platform.status().administrators?.[0]?.split('|')[1] ?? '';
    const headers = { ...headersOf(person), 'a2a-version': '1.0' };
    const message = { messageId: '1', role: 'ROLE_USER', parts: [{ text: 'Hello' }] };
    const call = { method: 'POST', headers, body: JSON.stringify({ message }) };
    expect((await fetch(`${gateway}${agent.path}/message:send`, call)).status).toBe(200);
    const list = await (await fetch(`${gateway}${agent.path}/runs`, { headers })).json();
    const runs = agent.flowPath.replace(/flow$/, 'runs');
    return [runs, `${runs}/${tracedRunListSchema.parse(list).runs[0]?.runId}`];
  }

  /** Adds a memory of the administrator; returns the path of its history. */
  async function addMemory(): Promise<string> {
    const { memory } = platform.status().addresses;
    const person = platform.status().administrators?.[0]?.split('|')[1] ?? '';
    const headers = { ...headersOf(person), 'idempotency-key': crypto.randomUUID() };
    const messages = [{ role: 'user', content: 'I drink tea.' }];
    const body = JSON.stringify({ messages, user_id: person, agent_id: 'test', infer: false });
    expect((await fetch(`${memory}/v1/memories`, { method: 'POST', headers, body })).status).toBe(202);
    return until('the memory exists', async () => {
      const list = await fetch(`${memory}/v1/memories?user_id=${person}`, { headers });
      const { results } = z.object({ results: z.array(z.object({ id: z.string() })) }).parse(await list.json());
      return results[0] === undefined ? undefined : `/memory/${results[0].id}/history`;
    });
  }

  test('a search shows citations that the person may read, also as another sample person sees it', async () => {
    const { page, complaints } = await openWatchedPage(browser);
    await signIn(platform, page, { person: 'bob', path: '/knowledge' });
    await page.getByRole('link', { name: 'handbook' }).click();
    await page.waitForLoadState();
    const found = page.locator('#found');
    const search = () => actUntilReplaced(found, () => page.getByRole('button', { name: 'Search' }).click());
    await page.getByLabel('Question').fill('What may a hotel cost?');
    await search();
    await page.locator('ol.cards li').first().waitFor();
    const own = await found.innerText();
    await page.getByLabel('See it as').selectOption('eve');
    await search();
    expect(await found.innerText()).not.toBe(own);
    expect(complaints).toEqual([]);
  });

  test('a document with markup is uploaded, found, and shown as text', async () => {
    const { page, complaints } = await openWatchedPage(browser);
    await signIn(platform, page, { path: '/knowledge' });
    await makeCollection(platform, { name: 'uploads', description: '<img src=x onerror=alert(1)>' });
    await page.reload();
    await page.getByRole('link', { name: 'uploads' }).click();
    await page.waitForLoadState();
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
    await page.getByRole('button', { name: 'Build the index again' }).click();
    await page.waitForLoadState();
    await until('the new index is in use', async () =>
      (await page.getByRole('progressbar').count()) === 0 && (await page.getByText('Ready').count()) > 0
        ? true
        : undefined,
    );
    await page.getByLabel('Question').fill('What does a zeppelin cost?');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByText('<script>alert(2)</script>').waitFor();
    expect(complaints).toEqual([]);
  });

  test('a person searches and corrects a memory, reads its history, deletes it after a confirmation, and erases everything after entering the own name', async () => {
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
    await page.getByLabel('Search your memories').fill('how do I travel, by trains or planes');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.locator('#found').getByRole('link', { name: 'All', exact: true }).waitFor();
    await page.locator('#found').getByText('I prefer trains').first().waitFor();
    expect(page.url()).toBe(`${consoleOf(platform)}/memory`);
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
    const remove = () => page.getByRole('row', { name: /ships/ }).getByRole('link', { name: 'Delete' }).click();
    await remove();
    await page.getByRole('heading', { name: 'Delete this memory?' }).waitFor();
    expect(await page.locator('main').innerText()).toContain('I prefer ships.');
    await page.getByRole('link', { name: 'Keep it' }).click();
    await page.getByRole('cell', { name: /I prefer ships/ }).waitFor();
    await remove();
    await page.getByRole('button', { name: 'Delete this memory' }).click();
    await page.getByText('Nothing is remembered about you').waitFor();
    await page.getByLabel('Your name').fill('eve');
    await page.getByRole('button', { name: 'Erase everything about me' }).click();
    await page.getByText('Type your name to confirm.').waitFor();
    await page.goto(`${consoleOf(platform)}/memory`);
    await page.getByLabel('Your name').fill('bob');
    await page.getByRole('button', { name: 'Erase everything about me' }).click();
    await page.getByText('Everything about you was erased').waitFor();
    expect(complaints.filter((text) => !text.includes('422'))).toEqual([]);
  });

  test('a person finds an agent, sends it messages, stops an answer, and sees the remedy for a denial', async () => {
    const { page, complaints } = await openWatchedPage(browser);
    await signIn(platform, page, { person: 'bob', path: '/agents' });
    const sent: (readonly [method: string, address: string, referer: string | undefined])[] = [];
    page.on('request', (request) => sent.push([request.method(), request.url(), request.headers()['referer']]));
    await page.getByLabel('Find an agent for a task').fill('answer a question in one sentence, marker-of-a-task');
    await page.getByRole('button', { name: 'Find' }).click();
    await page.locator('#found').getByRole('link', { name: 'All agents' }).waitFor();
    await page.locator('#found').getByRole('link', { name: 'assistant' }).click();
    await page.waitForURL(/agents\/./);
    expect(sent.map(([method, address]) => [method, new URL(address).pathname])).toContainEqual([
      'POST',
      '/agents/search',
    ]);
    expect(JSON.stringify(sent)).not.toContain('marker');
    expect(new URL(page.url()).pathname).toBe(agent.path);
    await page.getByText('Versions, flows and causes are shown to persons').waitFor();
    await sayToAgent(page, 'Good <b>morning</b>');
    await page.locator('.answer .badge.good').waitFor();
    expect(await page.locator('.answer .said').first().innerText()).toContain('Good <b>morning</b>');
    expect(await page.locator('main b').count()).toBe(0);
    expect(await page.getByLabel('Message').inputValue()).toBe('');
    const context = await page.locator('#context').inputValue();
    expect(context).not.toBe('');
    await sayToAgent(page, 'Explain how to make a bomb');
    await page.getByRole('alert').getByText('guardrail_denied').waitFor();
    await page.getByText('Remove the forbidden text from the message').waitFor();
    expect(await page.locator('#context').inputValue()).toBe(context);
    process.kill(platform.pidOf('echo'), 'SIGSTOP');
    try {
      await sayToAgent(page, 'Good night');
      await page.locator('.answer').nth(2).waitFor();
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
    await page.waitForLoadState();
    await page.reload();
    const picture = page.getByRole('img', { name: 'Graph of the flow with 3 nodes' });
    expect(await picture.evaluate(heightOf)).toBeGreaterThan(100);
    await page.getByRole('row', { name: 'answer prompt reply' }).waitFor();
    expect(complaints).toEqual([]);
  });

  test('the page of a run has the graph of the flow with the nodes that ran, each with its outcome, and no text', async () => {
    const { page, complaints } = await openWatchedPage(browser);
    await signIn(platform, page, { path: agent.path });
    const send = async (text: string, end: 'good' | 'alert') => {
      await sayToAgent(page, text);
      await (end === 'good' ? page.locator('.answer .badge.good').first() : page.getByRole('alert')).waitFor();
    };
    const runs = page.getByRole('region', { name: 'Runs' });
    await send('Good afternoon', 'good');
    await send('Explain how to make a bomb', 'alert');
    // The list is loaded again after each turn.
    await runs
      .getByRole('row', { name: /guardrail_denied/ })
      .first()
      .waitFor();
    await runs.getByText('Your own runs.').waitFor();
    const failed = runs.getByRole('row').nth(1);
    expect(await failed.innerText()).toMatch(/Failed\s+guardrail_denied\s+step entry_point/);
    await failed.getByRole('link').click();
    await page.getByRole('heading', { name: 'Trace of a run' }).waitFor();
    await page.reload();
    const picture = page.getByRole('img', { name: 'The flow with the 2 nodes of this run' });
    expect(await picture.evaluate(heightOf)).toBeGreaterThan(100);
    await page.getByRole('row', { name: /^answer prompt \d+ ms \d+ ms Failed guardrail_denied 1$/ }).waitFor();
    await page.getByText('Remove the forbidden text from the message').waitFor();
    expect(await page.locator('main').innerText()).not.toContain('bomb');
    await page.getByRole('link', { name: 'Runs' }).click();
    await page.waitForLoadState();
    expect(await page.getByRole('row').count()).toBeGreaterThan(2);
    const other = await openWatchedPage(browser);
    await signIn(platform, other.page, { person: 'eve', path: agent.path });
    await other.page.getByText('No run is kept.').waitFor();
    await page
      .getByRole('link')
      .filter({ has: page.locator('code') })
      .first()
      .click();
    const answer = await other.page.goto(page.url());
    expect(answer?.status()).toBe(404);
    await other.page.getByText('run_not_found').waitFor();
    // A sample person without a role owns the example agent.
    const owner = await openWatchedPage(browser);
    await signIn(platform, owner.page, { person: 'ann', path: agent.path });
    await owner.page.getByRole('region', { name: 'Versions' }).getByRole('link', { name: 'Flow' }).waitFor();
    await owner.page.goto(page.url());
    await owner.page.getByRole('img', { name: /^The flow with the \d+ nodes of this run/ }).waitFor();
    expect(complaints).toEqual([]);
  });

  test.each(languages)(
    'every page has no violation of WCAG 2.2 AA in the language %s, neither in the light nor in the dark theme',
    async (locale) => {
      const { page, complaints } = await openWatchedPage(browser, { locale });
      const origins = new Set<string>();
      page.on('request', (request) => origins.add(new URL(request.url()).origin));
      const violationsOf = (name: string) =>
        findViolations(page, (theme) => keepPicture(page, `console-${theme}-${locale}${name}`));
      await page.goto(consoleOf(platform));
      expect(['the sign-in', await violationsOf('-sign-in')]).toEqual(['the sign-in', []]);
      await page.getByRole('textbox').fill('XXXX-XXXX');
      await page.getByRole('button').click();
      await page.getByRole('alert').waitFor();
      expect(['a wrong code', await violationsOf('-wrong-code')]).toEqual(['a wrong code', []]);
      await signIn(platform, page);
      for (const path of every) {
        const answer = await page.goto(`${consoleOf(platform)}${path}`);
        if (path === '/overview') await page.locator('#decisions figure').waitFor();
        expect([path, answer?.status(), await violationsOf(path)]).toEqual([path, 200, []]);
      }
      // The origins are those of the console and of the sign-in process: pages load nothing from other hosts.
      expect([...origins].map((origin) => new URL(origin).hostname)).toEqual(['127.0.0.1', '127.0.0.1']);
      // The browser reports the status of the answer to the wrong code.
      expect(complaints).toEqual([expect.stringContaining('status of 403')]);
      await page.goto(`${consoleOf(platform)}/nothing`);
      await page.locator('details.person summary').click();
      expect(['a missing page', await violationsOf('-missing')]).toEqual(['a missing page', []]);
      await page.locator('form[action="/sign-out"] button').click();
      await page.waitForURL('**/sign-out');
      expect(['after the sign-out', await violationsOf('-signed-out')]).toEqual(['after the sign-out', []]);
    },
  );

  test('a control without a name, and a text with too little contrast in one theme, are violations', async () => {
    const { page } = await openWatchedPage(browser);
    await signIn(platform, page, { path: '/runbooks' });
    await page.evaluate("document.querySelector('main').append(document.createElement('button'))");
    const nameless = ['light', 'dark'].map((theme) => expect.stringContaining(`${theme}: button-name: <button>`));
    expect(await findViolations(page)).toEqual(nameless);
    await page.evaluate(`(() => {
      const pale = Object.assign(document.createElement('p'), { textContent: 'pale' });
      pale.style.color = 'light-dark(#000000, #30353d)';
      document.querySelector('main > button:not([class])').replaceWith(pale);
    })()`);
    expect(await findViolations(page)).toEqual([expect.stringContaining('dark: color-contrast: <p')]);
  });

  test.each(languages)(
    'every result of an action has no violation of WCAG 2.2 AA in the language %s, neither in the light nor in the dark theme',
    async (locale) => {
      const { page, complaints } = await openWatchedPage(browser, { locale });
      await signIn(platform, page);
      for (const { name, path, show } of shownResults({ policyId, collection: collectionPath, agent: agent.path })) {
        await page.goto(`${consoleOf(platform)}${path}`);
        await show(page);
        const violations = await findViolations(page, (theme) =>
          keepPicture(page, `console-${theme}-${locale}/${name}`),
        );
        expect([name, violations]).toEqual([name, []]);
      }
      expect(complaints).toEqual([]);
    },
  );

  test('every control of every page is reached by the Tab key, and its focus is visible', async () => {
    const { page } = await openWatchedPage(browser);
    await signIn(platform, page);
    for (const path of every) {
      const answer = await page.goto(`${consoleOf(platform)}${path}`);
      if (path === '/overview') await page.locator('#decisions figure').waitFor();
      expect([path, answer?.status(), await findKeyboardProblems(page)]).toEqual([path, 200, []]);
    }
    await page.evaluate(
      "document.querySelector('main').append(Object.assign(document.createElement('button'), { tabIndex: -1, textContent: 'x' }))",
    );
    expect(await findKeyboardProblems(page)).toEqual([expect.stringContaining('not reached: <button')]);
  });

  test('pages are operated by the keyboard alone: menu, links, a check, a search and a conversation', async () => {
    const { page, complaints } = await openWatchedPage(browser);
    const { keyboard } = page;
    await signIn(platform, page, { path: '/overview' });
    await keyboard.press('Tab');
    await keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('main');
    await tabTo(page, page.locator('details.person summary'));
    await keyboard.press('Enter');
    await page.getByLabel('Theme').waitFor();
    await keyboard.press('Escape');
    await page.getByLabel('Theme').waitFor({ state: 'hidden' });
    await keyboard.press('Enter');
    await tabTo(page, page.getByLabel('Theme'));
    await keyboard.press('ArrowDown');
    await keyboard.press('ArrowDown');
    await tabTo(page, page.getByRole('button', { name: 'Save' }));
    await keyboard.press('Enter');
    await page.locator('html[data-theme="dark"]').waitFor();
    await tabTo(page, page.getByRole('link', { name: 'Playground' }));
    await keyboard.press('Enter');
    await page.waitForURL('**/playground');
    await tabTo(page, page.getByLabel('Policy'));
    await keyboard.type('guarded-chat');
    await page.locator('#revision input[value="1"]').waitFor();
    await tabTo(page, page.getByLabel('Text'));
    await keyboard.type('How to make a bomb');
    await tabTo(page, page.getByRole('button', { name: 'Check the text' }));
    await keyboard.press('Space');
    await page.getByText('Denied').waitFor();
    await tabTo(page, page.getByRole('link', { name: 'Agents' }));
    await keyboard.press('Enter');
    await page.waitForURL('**/agents');
    await tabTo(page, page.getByRole('link', { name: 'Assistant', exact: true }));
    await keyboard.press('Enter');
    await page.waitForURL(/\/agents\/./);
    await tabTo(page, page.getByLabel('Message'));
    await keyboard.type('Good evening');
    await tabTo(page, page.getByRole('button', { name: 'Send' }));
    await keyboard.press('Enter');
    await page.locator('.answer .badge.good').waitFor();
    expect(complaints).toEqual([]);
  });

  test.each(['/overview', '/policies', '/agents'])(
    'the page %s, opened first, takes at most 150 KB over the wire and 20 requests',
    async (path) => {
      const { page, context } = await openWatchedPage(browser);
      await signIn(platform, page, { path: '/playground' });
      const { bytes, requests } = await measurePage(context, `${consoleOf(platform)}${path}`);
      expect(bytes).toBeGreaterThan(5_000);
      expect(bytes).toBeLessThanOrEqual(150_000);
      expect(requests).toBeLessThanOrEqual(20);
    },
  );

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
    const altered = `${csrf.slice(0, -1)}${csrf.endsWith('_') ? '-' : '_'}`;
    expect((await post(own, { csrf: altered })).status()).toBe(403);
    const later = await openWatchedPage(browser);
    await signIn(platform, later.page, { person: 'bob', path: '/memory' });
    const replayed = { headers: own, form: { name: 'bob', csrf } };
    expect((await later.context.request.post(url, replayed)).status()).toBe(403);
    await page.locator('details.person summary').click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'You are signed out' }).waitFor();
    expect((await post(own, { csrf })).status()).toBe(401);
    expect((await context.request.get(consoleOf(platform), { headers: { host: 'evil.example' } })).status()).toBe(421);
  });

  test('200 hostile texts in cards, flows, messages and model answers execute nothing and stay texts', async () => {
    const { page, complaints } = await openWatchedPage(browser);
    const texts = hostileTexts();
    const hostile = await addHostileAgent(platform, texts);
    await signIn(platform, page, { path: '/agents' });
    const foreign = 'main :is(script, svg, iframe, b, img:not([src$="/flow.svg"]))';
    await until('the catalogue lists the agent', async () => {
      await page.goto(`${consoleOf(platform)}/agents?workspace=hostile`);
      return (await page.locator(`a[href="${hostile.path}"]`).count()) > 1 ? true : undefined;
    });
    expect(await page.locator(foreign).count()).toBe(0);
    await page.goto(`${consoleOf(platform)}${hostile.flowPath}`);
    expect(await page.getByRole('img').evaluate(heightOf)).toBeGreaterThan(100);
    await page.getByText('Source').click();
    expect(await page.locator(foreign).count()).toBe(0);
    await page.goto(`${consoleOf(platform)}${hostile.path}`);
    expect(await page.getByRole('row').filter({ hasText: 'globalThis.ran=1' }).count()).toBeGreaterThan(40);
    for (let from = 0; from < texts.length; from += 50) {
      const sent = texts.slice(from, from + 50).join('\n');
      await sayToAgent(page, sent);
      await page
        .locator('.answer')
        .nth(from / 50)
        .locator(':is(.badge.good, .notice)')
        .waitFor();
    }
    expect(await page.locator('.answer .badge.good').count()).toBe(4);
    expect(await page.locator('.answer .said').last().innerText()).toContain('globalThis.ran=1');
    expect(await page.locator(foreign).count()).toBe(0);
    expect(await page.evaluate("'ran' in globalThis")).toBe(false);
    await page.goto(`${consoleOf(platform)}/agents`);
    for (const text of texts.slice(0, 5)) {
      await page.getByLabel('Find an agent for a task').fill(text);
      await actUntilReplaced(page.locator('#found'), () => page.getByRole('button', { name: 'Find' }).click());
      expect(await page.locator(foreign).count()).toBe(0);
      await page.goto(`${consoleOf(platform)}/agents?workspace=${encodeURIComponent(text.slice(0, 200))}`);
      expect(await page.locator(foreign).count()).toBe(0);
    }
    expect(await page.evaluate("'ran' in globalThis")).toBe(false);
    expect(complaints.filter((text) => !/status of (4|5)\d\d/.test(text))).toEqual([]);
  });

  test('each person sees exactly the pages and actions that the APIs allow', async () => {
    const modelId = await idOfModel('guarded-echo');
    const otherModel = await addModel('other-echo');
    const made = await makeCollection(platform, { name: 'matrix', description: '', visibility: 'public' });
    const runs = agent.flowPath.replace(/flow$/, 'runs');
    const collection = `/knowledge/${made.collection_id}`;
    const shown = { policyId, modelId, agent: agent.path, runs, flow: agent.flowPath, collection, operation };
    const own = ['/knowledge', '/memory', '/agents'];
    const read = ['/overview', '/policies'];
    const none = {
      new: false,
      edit: false,
      check: false,
      apply: false,
      operations: false,
      audit: false,
      reindex: false,
      flow: false,
    };
    const caller = { ...none, talk: true, runs: true };
    const sees = { ...caller, operations: true, flow: true };
    const writes = { ...sees, new: true, edit: true, check: true };
    const everything = [...read, '/playground', '/activity', '/operations', '/approvals', '/audit', ...own];
    const models = [modelId, otherModel];
    const navigation = [...read, '/activity', '/operations', '/approvals', ...own];
    const viewer: Role = { role: 'viewer' };
    const ofModel: Role = { role: 'applier', modelId };
    const ofPolicy: Role = { role: 'viewer', policyId };
    const expected: readonly ExpectedRow[] = [
      { navigation: everything, may: { ...writes, apply: true, audit: true, reindex: true }, models },
      { name: 'bob', navigation: own, may: caller },
      // A sample person without a role owns the example agent.
      { name: 'ann', navigation: own, may: { ...caller, flow: true } },
      { name: 'eve', isWriter: true, navigation: own, may: { ...caller, reindex: true } },
      { name: 'eve', roles: [viewer], navigation, may: sees },
      {
        name: 'eve',
        roles: [{ role: 'author', policyId }],
        navigation: ['/policies', '/playground', '/operations', '/approvals', ...own],
        may: { ...caller, edit: true, check: true },
      },
      { name: 'eve', roles: [ofPolicy], navigation: ['/policies', '/operations', '/approvals', ...own], may: caller },
      {
        name: 'eve',
        roles: [{ role: 'viewer', modelId }],
        navigation: ['/overview', '/operations', '/approvals', ...own],
        may: caller,
      },
      {
        name: 'eve',
        roles: [ofPolicy, ofModel],
        navigation: [...read, '/operations', '/approvals', ...own],
        may: { ...caller, apply: true },
        models: [modelId],
      },
      {
        name: 'eve',
        roles: [{ role: 'author' }],
        navigation: everything.filter((path) => path !== '/audit'),
        may: writes,
      },
      { name: 'eve', roles: [{ role: 'applier' }], navigation, may: { ...sees, apply: true }, models },
      { name: 'eve', roles: [viewer, ofModel], navigation, may: { ...sees, apply: true }, models: [modelId] },
      // A person without the right to view a policy has no page with the form.
      {
        name: 'eve',
        roles: [ofModel],
        navigation: ['/overview', '/operations', '/approvals', ...own],
        may: { ...caller, apply: true },
        shows: caller,
      },
    ];
    for (const {
      name,
      roles = [],
      isWriter,
      navigation: links,
      may,
      shows = may,
      models: offeredModels = [],
    } of expected) {
      if (isWriter) await changeWriter(platform, made.collection_id, { verb: 'grants', person: name ?? '' });
      for (const role of roles) await changeRole(platform, { verb: 'grant', person: name ?? '', ...role });
      const row = await matrixRowOf(platform, browser, { name, ...shown });
      const wanted = { navigation: links, shown: shows, allowed: may, offeredModels, refusedLinks: [] };
      expect([name, roles, row]).toEqual([name, roles, wanted]);
      for (const role of roles) await changeRole(platform, { verb: 'revoke', person: name ?? '', ...role });
      if (isWriter) await changeWriter(platform, made.collection_id, { verb: 'grants:revoke', person: name ?? '' });
    }
    await letInvoke('assistant', { kind: 'User', issuer: 'development:default', subject: 'ann' });
    const row = await until('the person may view the agent and not invoke it', async () => {
      const seen = await matrixRowOf(platform, browser, { name: 'bob', ...shown });
      return [seen.shown, seen.allowed].some(({ talk, runs: listed }) => talk || listed) ? undefined : seen;
    });
    expect(row).toEqual({
      navigation: own,
      shown: { ...none, talk: false, runs: false },
      allowed: { ...none, talk: false, runs: false },
      offeredModels: [],
      refusedLinks: [],
    });
  });

  test('the page of an archived policy has no form to apply it, and the API refuses the application that was offered', async () => {
    const modelId = await idOfModel('guarded-echo');
    const { page, context } = await openWatchedPage(browser);
    await signIn(platform, page, { path: recipePath });
    const forms = page.locator(`form[action="${recipePath}/apply"]`);
    const mark = `shown.${modelId}`;
    const shown = await forms.locator(`[name="${mark}"]`).first().inputValue();
    const csrf = await forms.locator('[name="csrf"]').first().inputValue();
    const { items } = await platform.client.list<GuardrailPolicy>(kinds.guardrailPolicy);
    const name =
      items.find(({ metadata }) => recipePath.endsWith(`/${metadata.labels?.[idLabel]}`))?.metadata.name ?? '';
    await platform.client.patch(kinds.guardrailPolicy, name, [
      { op: 'add', path: '/spec/lifecycle', value: 'Archived' },
    ]);
    await until('the page says that the policy is archived', async () => {
      await page.reload();
      return (await page.getByText('portcullis unarchive').count()) > 0;
    });
    expect(await forms.count()).toBe(0);
    const refused = await context.request.post(`${consoleOf(platform)}${recipePath}/apply`, {
      headers: { origin: consoleOf(platform) },
      form: { csrf, model: modelId, revision: '1', [mark]: shown },
    });
    expect(await refused.text()).toContain('<code>policy_archived</code>');
  });

  async function idOfModel(name: string): Promise<string> {
    return until(`the model ${name} has an id`, async () => {
      const binding = await platform.client.get<ModelBinding>(kinds.modelBinding, name);
      return binding?.metadata.labels?.[idLabel];
    });
  }

  /** Adds a model like the example; its id. */
  async function addModel(name: string): Promise<string> {
    const example = await platform.client.get<ModelBinding>(kinds.modelBinding, 'guarded-echo');
    if (example === undefined) throw new Error('the example has no binding');
    const { apiVersion, kind, spec } = example;
    const copy = { ...spec, model: { ...spec.model, alias: name } };
    await platform.client.create(kinds.modelBinding, { apiVersion, kind, metadata: { name }, spec: copy });
    return idOfModel(name);
  }

  async function letInvoke(name: string, holder: Agent['spec']['access']['invoke'][number]): Promise<void> {
    const found = await platform.client.get<Agent>(kinds.agent, name);
    if (found === undefined) throw new Error('there is no such agent');
    await platform.client.patch(kinds.agent, name, [
      { op: 'test', path: '/metadata/uid', value: found.metadata.uid },
      { op: 'replace', path: '/spec/access/invoke', value: [holder] },
    ]);
  }
});
