import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dataDirectory } from '#contracts/data-directory';
import { currentProfile } from '#contracts/profiles';
import { until } from '#kit/testing/until';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { idLabel, kinds } from '#resources/kinds';
import type { ModelBinding } from '#resources/model-binding';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { inBrowser, missingBrowser, openBrowser, openWatchedPage } from '../support/browser.ts';
import { type Platform, startPlatform } from '../support/start-platform.ts';
import { actUntilReplaced } from './act-until-replaced.ts';
import { callManagement } from './call-management.ts';
import { filesWith } from './files-with.ts';
import { consoleOf, signIn, signInCodeOf } from './sign-in.ts';

type Linked = { getAttribute(name: string): string | null };
const hrefsOf = (links: readonly Linked[]): readonly string[] => links.map((link) => link.getAttribute('href') ?? '');
const isMissing = missingPostgres !== undefined || missingBrowser !== undefined;

describe.skipIf(isMissing)(onPostgres(inBrowser('policies in the console')), () => {
  const parts = new AsyncDisposableStack();
  let platform: Platform;
  let browser: Awaited<ReturnType<typeof openBrowser>>['browser'];
  let shown: Awaited<ReturnType<typeof openWatchedPage>>;

  beforeAll(async () => {
    platform = parts.use(
      await startPlatform({
        ...{ management: true, console: true, gateways: 2 },
        environment: { PORTCULLIS_HUNG_AFTER_SECONDS: '3600' },
      }),
    );
    ({ browser } = parts.use(await openBrowser()));
    shown = await openWatchedPage(browser);
    await signIn(platform, shown.page);
  });
  afterAll(() => parts.disposeAsync());

  const open = async (name: string) => {
    await shown.page.goto(`${consoleOf(platform)}/policies`);
    await shown.page.getByRole('link', { name, exact: true }).click();
    await shown.page.waitForLoadState();
  };

  test('with --console the sign-in code is printed next to the address', async () => {
    await until('the addresses are printed', () => platform.output().includes('Ctrl-C stops everything.'));
    expect(platform.output()).toMatch(/^ {2}console +http:\S+ {3}sign-in code [0-9A-Z]{4}-[0-9A-Z]{4}$/m);
  });

  test('the tests of a policy run on its page', async () => {
    await open('guarded-chat');
    await shown.page.getByRole('row', { name: /a card number is masked/ }).waitFor();
    expect(await shown.page.getByText('as expected').count()).toBe(11);
    expect(await shown.page.getByText('differs').count()).toBe(0);
  });

  test('a definition is checked while it is typed, saved as a revision, compared, applied and rolled back', async () => {
    const { page, complaints } = shown;
    await open('guarded-chat');
    await page.getByRole('link', { name: 'Edit' }).click();
    await page.getByText('The definition can be applied.').waitFor();
    const source = await page.getByLabel('Definition (YAML)').inputValue();
    await page.getByLabel('Definition (YAML)').fill(source.replace('kind: stop_list', 'kind: wish_list'));
    await page.getByText('The definition cannot be applied').waitFor();
    await page
      .getByLabel('Definition (YAML)')
      .fill(source.replace(/^( *)- make a bomb$/m, '$1- make a bomb\n$1- make a trebuchet'));
    await page.getByText('The definition can be applied.').waitFor();
    await page.getByRole('button', { name: 'Save as a new revision' }).click();
    await page.getByRole('link', { name: 'Compare with the previous revision' }).click();
    await page.waitForURL(/\/diff\?/);
    expect(await page.locator('td.removed').count()).toBe(0);
    expect(await page.locator('td.added').innerText()).toContain('- make a trebuchet');
    const row = page.getByRole('row', { name: /guarded-echo/ });
    for (const { revision, button } of [
      { revision: 2, button: 'Apply' },
      { revision: 1, button: 'Roll guarded-echo back to revision 1 of guarded-chat' },
    ]) {
      await open('guarded-chat');
      process.kill(platform.pidOf('gateway-1'), 'SIGSTOP');
      try {
        await page.getByRole('button', { name: button }).click();
        await page.waitForURL('**/overview');
        await row.getByText('1 of 2 confirmed').waitFor();
        expect(await row.locator('.chips .badge.good').count()).toBe(1);
        await page.evaluate(() => Object.assign(globalThis, { isOldPage: true }));
      } finally {
        process.kill(platform.pidOf('gateway-1'), 'SIGCONT');
      }
      await row.getByText(`revision ${revision} of guarded-chat`).waitFor();
      await row.getByText('2 of 2 confirmed').waitFor();
      await row.getByText('Applied', { exact: false }).first().waitFor();
      expect(await row.locator('.chips .badge.good').count()).toBe(2);
      expect(await page.evaluate(() => 'isOldPage' in globalThis)).toBe(true);
      await row.getByRole('link', { name: 'guarded-chat' }).click();
      await page.getByRole('heading', { name: 'guarded-chat', level: 1 }).waitFor();
    }
    expect(complaints).toEqual([]);
  });

  test('the operations name author, command, object and outcome, lead to the audit log, and a running one ends on the page', async () => {
    const { page, context, complaints } = await openWatchedPage(browser);
    await signIn(platform, page, { path: '/policies' });
    await page.getByRole('link', { name: 'guarded-chat', exact: true }).click();
    process.kill(platform.pidOf('gateway-1'), 'SIGSTOP');
    try {
      await page.getByRole('button', { name: 'Apply' }).click();
      await page.waitForURL('**/overview');
      await page.goto(`${consoleOf(platform)}/operations`);
      const running = page.getByRole('row', { name: /Apply a policy/ }).first();
      await running.getByText('1 of 2 confirmed').waitFor();
      await running.getByText('Running').waitFor();
      process.kill(platform.pidOf('gateway-1'), 'SIGCONT');
      await running.getByText('Succeeded').waitFor();
      expect(await running.innerText()).toMatch(/Model guarded-echo\s+guarded-chat Revision \d/);
    } finally {
      process.kill(platform.pidOf('gateway-1'), 'SIGCONT');
    }
    await page.getByLabel('Command').selectOption('policy.update');
    await page.getByLabel('State').selectOption('succeeded');
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.waitForURL(/kind=policy\.update&state=succeeded/);
    await page.reload();
    expect(await page.getByLabel('State').inputValue()).toBe('succeeded');
    const rows = page.locator('tbody tr');
    expect(await rows.count()).toBeGreaterThan(0);
    expect(await rows.filter({ hasText: 'Save a revision' }).count()).toBe(await rows.count());
    await rows
      .first()
      .getByRole('link', { name: /Save a revision/ })
      .click();
    await page.getByRole('heading', { name: 'Save a revision', level: 1 }).waitFor();
    await page.reload();
    await page.getByRole('link', { name: 'Entries in the audit log' }).click();
    await page.getByRole('row', { name: /policy\.update.*Succeeded/ }).waitFor();
    await page
      .getByRole('row', { name: /Succeeded/ })
      .getByRole('link', { name: /Operation/ })
      .click();
    await page.getByRole('link', { name: 'guarded-chat' }).first().click();
    await page.getByRole('link', { name: 'Operations on this policy' }).click();
    await page
      .getByRole('row', { name: /Save a revision/ })
      .first()
      .waitFor();
    await page.getByLabel('Id of the policy or model').fill('unknown');
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByRole('alert').waitFor();
    expect(await page.getByLabel('Id of the policy or model').inputValue()).toBe('unknown');
    const missing = await page.goto(`${consoleOf(platform)}/operations/${crypto.randomUUID()}`);
    expect(missing?.status()).toBe(404);
    await page.getByRole('link', { name: 'Operations', exact: true }).last().click();
    await page.getByLabel('Author').fill('stranger');
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByText('There is no such operation').waitFor();
    expect(complaints.filter((text) => !/40[04]/.test(text))).toEqual([]);
    await context.close();
  });

  test('an application that another person made after the page was opened is shown, and replaced only after a second confirmation', async () => {
    const { page, context, complaints } = await openWatchedPage(browser);
    await signIn(platform, page, { path: '/policies' });
    await page.getByRole('link', { name: 'guarded-chat', exact: true }).click();
    const { modelId, policyId, wanted } = await applied();
    const other = wanted === 1 ? 2 : 1;
    await applyByApi({ modelId, policyId, revision: other });
    await page.locator('select[name="revision"]').selectOption(String(wanted));
    await page.locator('select[name="model"]').selectOption({ label: 'guarded-echo' });
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.getByText(`It now has revision ${other} of guarded-chat. Nothing was applied.`).waitFor();
    expect((await applied()).wanted).toBe(other);
    await page.getByRole('button', { name: `Apply revision ${wanted} in its place` }).click();
    await page.waitForURL('**/overview');
    expect((await applied()).wanted).toBe(wanted);
    expect(complaints.filter((text) => !text.includes('409'))).toEqual([]);
    await context.close();
  });

  test('a save after that of another person shows both definitions, and can be based on the newer one', async () => {
    const { page, context, complaints } = await openWatchedPage(browser);
    await signIn(platform, page, { path: '/policies' });
    await page.getByRole('link', { name: 'guarded-chat', exact: true }).click();
    await page.getByRole('link', { name: 'Edit' }).click();
    const later = await context.newPage();
    await later.goto(page.url());
    const saveWith = async (one: typeof page, description: string, button: string | RegExp) => {
      const source = one.getByLabel('Definition (YAML)');
      const value = await source.inputValue();
      await source.fill(value.replace(/^description: .*$/m, `description: ${description}`));
      await one.getByRole('button', { name: button }).click();
    };
    await saveWith(later, 'of the other person', 'Save as a new revision');
    await later.locator('main > p').getByText('of the other person').waitFor();
    await saveWith(page, 'of this person', 'Save as a new revision');
    await page.getByText('was saved since the page was opened').first().waitFor();
    await page.waitForLoadState();
    expect(await page.locator('td.removed').allInnerTexts()).toEqual([expect.stringContaining('of the other person')]);
    expect(await page.locator('td.added').allInnerTexts()).toEqual([expect.stringContaining('of this person')]);
    expect(await page.getByLabel('Definition (YAML)').inputValue()).toContain('of this person');
    await page.getByRole('button', { name: /^Save on top of revision \d+$/ }).click();
    await page.locator('main > p').getByText('of this person').waitFor();
    expect(complaints.filter((text) => !text.includes('409'))).toEqual([]);
    await context.close();
  });

  /** The ids of the example model and of its policy, and the revision that the model must have. */
  async function applied() {
    const binding = await platform.client.get<ModelBinding>(kinds.modelBinding, 'guarded-echo');
    const policy = await platform.client.get<GuardrailPolicy>(kinds.guardrailPolicy, 'guarded-chat');
    const [modelId = '', policyId = ''] = [binding, policy].map((one) => one?.metadata.labels?.[idLabel]);
    const guardrail = binding?.spec.guardrail;
    const { uid, generation } = binding?.metadata ?? {};
    const wanted = guardrail?.mode === 'Policy' ? guardrail.policyRef.revision : undefined;
    return { modelId, policyId, wanted, etag: `"model.${modelId}.${uid}.${generation}"` };
  }

  /** Applies a revision as another person does. */
  async function applyByApi(asked: { readonly modelId: string; readonly policyId: string; readonly revision: number }) {
    const { modelId, policyId, revision: policyRevision } = asked;
    const { etag } = await applied();
    const headers = { 'idempotency-key': crypto.randomUUID(), 'if-match': etag };
    const path = `/api/v1/models/${modelId}/guardrail-binding`;
    const body = { policyId, policyRevision, contentProfile: currentProfile };
    await callManagement(platform, { method: 'PUT', path, body, headers });
    await until('the revision is wanted', async () => (await applied()).wanted === policyRevision);
  }

  test('twelve concurrent applications all end on the page, within the requests that a person may send', async () => {
    const { page, context, complaints } = await openWatchedPage(browser);
    const models = await addModels(12);
    const policy = await platform.client.get<GuardrailPolicy>(kinds.guardrailPolicy, 'guarded-chat');
    const body = { policyId: policy?.metadata.labels?.[idLabel], policyRevision: 1, contentProfile: currentProfile };
    process.kill(platform.pidOf('gateway-1'), 'SIGSTOP');
    try {
      for (const { modelId, etag } of models) {
        const headers = { 'idempotency-key': crypto.randomUUID(), 'if-match': etag };
        const path = `/api/v1/models/${modelId}/guardrail-binding`;
        await callManagement(platform, { method: 'PUT', path, body, headers });
      }
      await signIn(platform, page, { path: '/operations' });
      const rows = page.getByRole('row', { name: /many-\d+/ });
      await until('every application runs', async () => {
        await page.reload();
        return (await rows.getByText('Running').count()) === models.length ? true : undefined;
      });
      const [first = ''] = await rows.getByRole('link', { name: /Apply a policy/ }).evaluateAll(hrefsOf);
      let asked = 0;
      page.on('request', (request) => {
        if (request.url().includes('/state') && request.url().includes(first.replace('/operations/', ''))) asked += 1;
      });
      const succeeded = async () => (await rows.getByText('Succeeded').count()) === models.length;
      // A replica that is frozen for long is not waited for.
      await until('the page has requested the states many times', async () => asked >= 9 || (await succeeded()));
      expect(await page.getByText('rate_limited').count()).toBe(0);
      process.kill(platform.pidOf('gateway-1'), 'SIGCONT');
      await until('every application ends', succeeded);
    } finally {
      process.kill(platform.pidOf('gateway-1'), 'SIGCONT');
    }
    expect(complaints).toEqual([]);
    await context.close();
  });

  /** Adds models like the example, without a policy; their ids and ETags. */
  async function addModels(count: number): Promise<readonly { readonly modelId: string; readonly etag: string }[]> {
    const example = await platform.client.get<ModelBinding>(kinds.modelBinding, 'guarded-echo');
    if (example === undefined) throw new Error('the example has no binding');
    const { apiVersion, kind, spec } = example;
    const names = Array.from({ length: count }, (_, at) => `many-${at}`);
    for (const name of names) {
      const copy = { ...spec, guardrail: { mode: 'None' as const }, model: { ...spec.model, alias: name } };
      await platform.client.create(kinds.modelBinding, { apiVersion, kind, metadata: { name }, spec: copy });
    }
    return until('the models have ids', async () => {
      const bindings = await Promise.all(
        names.map((name) => platform.client.get<ModelBinding>(kinds.modelBinding, name)),
      );
      const found = bindings.flatMap((binding) => {
        const modelId = binding?.metadata.labels?.[idLabel];
        if (modelId === undefined) return [];
        const { uid, generation } = binding?.metadata ?? {};
        return [{ modelId, etag: `"model.${modelId}.${uid}.${generation}"` }];
      });
      return found.length === count ? found : undefined;
    });
  }

  test('a recipe becomes a new policy', async () => {
    const { page } = shown;
    await page.goto(`${consoleOf(platform)}/policies/new?recipe=competitors`);
    await page.getByText('The definition can be applied.').waitFor();
    await page.getByRole('button', { name: 'Save as a new revision' }).click();
    await page.getByRole('heading', { name: 'recipe-competitors' }).waitFor();
  });

  test('the playground marks each match by its rule, and shows the text that the model would get', async () => {
    const { page, complaints } = shown;
    await page.goto(`${consoleOf(platform)}/playground`);
    await actUntilReplaced(page.locator('#revision'), () =>
      page.getByLabel('Policy').selectOption({ label: 'guarded-chat' }),
    );
    await page.getByLabel('Revision').fill('1');
    const press = (name: string) =>
      actUntilReplaced(page.locator('#outcome'), () => page.getByRole('button', { name }).click());
    const check = async (text: string) => {
      await page.getByLabel('Text').fill(text);
      await press('Check the text');
    };
    await check('Write <b>to</b> ann@example.com, please.');
    await page.getByText('Masked').waitFor();
    expect(await page.locator('mark').innerText()).toBe('ann@example.com email-address');
    expect(await page.locator('pre.text').last().innerText()).not.toContain('ann@example.com');
    expect(await page.locator('pre.text b').count()).toBe(0);
    await check('How to make a bomb');
    await page.getByText('Denied').waitFor();
    await page.getByText('Nothing: the text is not forwarded.').waitFor();
    await page.getByRole('button', { name: 'Add a message' }).click();
    const second = page.getByRole('group', { name: 'Message 2' });
    await second.getByLabel('Role').selectOption('assistant');
    await second.getByLabel('Text').fill('Their address is bob@example.com.');
    await page.getByRole('group', { name: 'Message 1' }).getByLabel('Text').fill('Write to ann@example.com.');
    await press('Check the text');
    await page.getByRole('heading', { name: 'Message 2' }).first().waitFor();
    expect(await page.locator('mark').allInnerTexts()).toEqual([
      'ann@example.com email-address',
      'bob@example.com email-address',
    ]);
    const first = page.getByRole('group', { name: 'Message 1' }).getByLabel('Text');
    await first.fill(`${'Fine words. '.repeat(150)}about project aurora`);
    await press('Show as a streamed answer');
    await page.getByText('Window 2 did not pass').waitFor();
    const sent = await page.locator('#streamed').innerText();
    expect([sent.startsWith('Fine words. '), sent.length < 1_024, sent.includes('aurora')]).toEqual([
      true,
      true,
      false,
    ]);
    await first.fill('Fine words.');
    await press('Show as a streamed answer');
    await page.getByText('Complete').waitFor();
    expect(await page.locator('#streamed').innerText()).toBe('Fine words.');
    await first.fill('');
    await page.getByRole('group', { name: 'Message 2' }).getByLabel('Text').fill('');
    await press('Show as a streamed answer');
    await page.getByText('Type a text of at most 256 windows').waitFor();
    expect(complaints).toEqual([]);
  });

  test('a text of the playground is in no file of the platform, neither in the database nor in a log', async () => {
    const { page } = shown;
    await page.goto(`${consoleOf(platform)}/playground`);
    await page.getByLabel('Text').fill('xylophone-4711 sings to ann@example.com');
    await page.getByRole('button', { name: 'Check the text' }).click();
    await page.getByRole('heading', { name: 'Decision' }).waitFor();
    await page.getByRole('button', { name: 'Show as a streamed answer' }).click();
    await page.locator('#stream-state .badge').waitFor();
    expect(filesWith(platform.data, 'xylophone-4711')).toEqual([]);
    // The database and the resources are among the files that were searched.
    expect(filesWith(dataDirectory(platform.data).postgres, 'pg_class')).not.toEqual([]);
    expect(filesWith(platform.data, 'guarded-chat')).not.toEqual([]);
  });

  test.each(['YAML', 'a form'])(
    'text that was typed as %s is saved after the session has ended, and after a sign-in in another tab',
    async (view) => {
      const { page, context, complaints } = await openWatchedPage(browser);
      await signIn(platform, page, { path: '/policies' });
      await page.getByRole('link', { name: 'guarded-chat', exact: true }).click();
      await page.waitForLoadState();
      const history = page.locator('#history ~ table tbody tr');
      const before = await history.count();
      await page.getByRole('link', { name: 'Edit' }).click();
      if (view === 'a form') await page.getByRole('button', { name: 'Edit as a form' }).click();
      await page.getByText('The definition can be applied.').waitFor();
      const typed = `typed as ${view} by <b>ann</b>`;
      // The text of a label contains the text of its field.
      const field = page.getByRole('textbox', { name: view === 'a form' ? 'Description' : 'Definition (YAML)' });
      const value = await field.inputValue();
      await field.fill(view === 'a form' ? typed : value.replace(/^description: .*$/m, `description: ${typed}`));
      await page.getByText('The definition can be applied.').waitFor();
      await context.clearCookies();
      await page.getByRole('button', { name: 'Save as a new revision' }).click();
      await page.getByRole('heading', { name: 'The session has ended' }).waitFor();
      expect(await page.getByLabel('What you have typed').inputValue()).toContain(typed);
      expect(await page.locator('main b').count()).toBe(0);
      const opened = context.waitForEvent('page');
      await page.getByRole('link', { name: 'Sign in' }).click();
      const other = await opened;
      await other.getByRole('textbox').fill(signInCodeOf(platform));
      await other.getByRole('button').click();
      await other.getByRole('heading', { name: 'Overview' }).waitFor();
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.getByText('This page belongs to an earlier sign-in').waitFor();
      await page.getByText('The definition can be applied.').waitFor();
      expect(await field.inputValue()).toContain(typed);
      await page.getByRole('button', { name: 'Save as a new revision' }).click();
      await page.getByRole('heading', { name: 'guarded-chat', level: 1 }).waitFor();
      await until('the new revision is listed', async () => (await history.count()) === before + 1);
      await page.locator('main > p').getByText(typed).waitFor();
      expect(complaints.filter((text) => !/status of 40[13]/.test(text))).toEqual([]);
      await context.close();
    },
  );

  test('a policy is edited as a form: rules are added, checked while typed, removed, and saved as a revision', async () => {
    const { page, complaints } = shown;
    await open('guarded-chat');
    await page.getByRole('link', { name: 'Edit' }).click();
    await page.getByText('The definition can be applied.').waitFor();
    await page.getByRole('button', { name: 'Edit as a form' }).click();
    await page.waitForURL(/\/convert\?to=form/);
    await page.getByText('The definition can be applied.').waitFor();
    const rules = page.getByRole('group');
    const before = await rules.count();
    const answers = page.getByRole('region', { name: 'Rules for answers' });
    await answers.getByRole('button', { name: 'Add a list of terms' }).click();
    const added = answers.getByRole('group').last();
    await page.getByText('The definition cannot be applied').waitFor();
    await added.getByLabel('Id of the rule').fill('code-names');
    await added.getByLabel('Terms, one in each line').fill('blue falcon\nred <b>heron</b>');
    await added.getByLabel('A match').selectOption('mask');
    await added.getByLabel('Replacement').fill('[a project]');
    await page.getByText('The definition can be applied.').waitFor();
    await added.getByLabel('Time, ms').fill('9999');
    await page.getByText('The definition cannot be applied').waitFor();
    await added.getByLabel('Time, ms').fill('20');
    await page.getByText('The definition can be applied.').waitFor();
    const held = await rules.count();
    await answers.getByRole('button', { name: 'Add a pattern' }).click();
    await until('the added rule is shown', async () => (await rules.count()) === held + 1);
    await page.getByText('The definition cannot be applied').waitFor();
    await answers.getByRole('group').last().getByRole('button', { name: 'Remove the rule' }).click();
    await page.getByText('The definition can be applied.').waitFor();
    expect(await rules.count()).toBe(before + 1);
    await page.getByRole('button', { name: 'Edit as YAML' }).click();
    const source = await page.getByLabel('Definition (YAML)').inputValue();
    expect(source).toContain('- red <b>heron</b>');
    await page.getByRole('button', { name: 'Edit as a form' }).click();
    await page.waitForURL(/\/convert\?to=form/);
    await page.getByText('The definition can be applied.').waitFor();
    await page.getByRole('button', { name: 'Save as a new revision' }).click();
    await page.getByRole('heading', { name: 'guarded-chat', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'Compare with the previous revision' }).first().click();
    await page.waitForURL(/\/diff\?/);
    expect(await page.locator('td.removed').count()).toBe(0);
    expect(await page.locator('table').innerText()).toContain('- red <b>heron</b>');
    await page.goto(`${consoleOf(platform)}/policies/new?recipe=competitors&as=form`);
    await page.getByText('The definition can be applied.').waitFor();
    await page.reload();
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('recipe-competitors');
    await page.getByRole('button', { name: 'Edit as YAML' }).click();
    await page.getByLabel('Definition (YAML)').fill('name: [');
    await page.getByRole('button', { name: 'Edit as a form' }).click();
    await page.getByText('This text cannot be shown as a form').waitFor();
    expect(complaints.filter((text) => !text.includes('422'))).toEqual([]);
  });
});
