import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { idLabel, kinds } from '#resources/kinds';
import type { ModelBinding } from '#resources/model-binding';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { closePages, inBrowser, missingBrowser, openBrowser, openWatchedPage } from '../support/browser.ts';
import { type Platform, startPlatform } from '../support/start-platform.ts';
import { callManagement } from './call-management.ts';
import { changeRole } from './role-matrix.ts';
import { consoleOf, signIn } from './sign-in.ts';

const isMissing = missingPostgres !== undefined || missingBrowser !== undefined;

describe.skipIf(isMissing)(onPostgres(inBrowser('approvals of a second person in the console')), () => {
  const parts = new AsyncDisposableStack();
  let platform: Platform;
  let browser: Awaited<ReturnType<typeof openBrowser>>['browser'];

  beforeAll(async () => {
    platform = parts.use(await startPlatform({ management: true, console: true }));
    ({ browser } = parts.use(await openBrowser()));
  });
  afterEach(() => closePages(browser));
  afterAll(() => parts.disposeAsync());

  /** Signs a person in on a separate page; the administrator without a name. */
  async function open(path: string, person?: string) {
    const { page, context, complaints } = await openWatchedPage(browser);
    await signIn(platform, page, { path, ...(person === undefined ? {} : { person }) });
    const row = page.locator('tbody tr').filter({ hasText: 'guarded-echo' });
    return { page, context, complaints, row };
  }

  test('an application that needs an approval is shown to everyone concerned, approved by another person with the right, and then executed', async () => {
    const modelId = await until('the model has an id', async () => {
      const binding = await platform.client.get<ModelBinding>(kinds.modelBinding, 'guarded-echo');
      return binding?.metadata.labels?.[idLabel];
    });
    const policy = await platform.client.get<GuardrailPolicy>(kinds.guardrailPolicy, 'guarded-chat');
    const policyPath = `/policies/${policy?.metadata.labels?.[idLabel]}`;
    await callManagement(platform, { method: 'POST', path: '/api/v1/approval-rules/require', body: { modelId } });
    for (const role of [{ role: 'applier', modelId }, { role: 'viewer' }])
      await changeRole(platform, { verb: 'grant', person: 'eve', ...role });
    await changeRole(platform, { verb: 'grant', person: 'bob', role: 'viewer' });
    const administrator = await open(policyPath);
    const { page } = administrator;
    const apply = async () => {
      await page.goto(`${consoleOf(platform)}${policyPath}`);
      await page.getByRole('button', { name: 'Apply', exact: true }).click();
    };
    await apply();
    await page.getByRole('alert').getByText('approval_required').waitFor();
    await page.getByRole('alert').getByRole('link', { name: 'Approvals' }).click();
    await administrator.row.getByText('You requested this. Another person must approve it.').waitFor();
    expect(await administrator.row.innerText()).toMatch(/Apply a policy\s+Model guarded-echo\s+\S+ Revision 1/);
    expect(await administrator.row.getByRole('button').count()).toBe(0);

    const viewer = await open('/approvals', 'bob');
    await viewer.row.getByText('It needs the role applier for this model.').waitFor();
    expect(await viewer.row.getByRole('button').count()).toBe(0);

    const other = await open('/approvals', 'eve');
    const csrf = (await page.locator('meta[name="csrf"]').getAttribute('content')) ?? '';
    const action = (await other.row.locator('form').getAttribute('action')) ?? '';
    const sent = { headers: { origin: consoleOf(platform) }, form: { csrf } };
    const refused = await administrator.context.request.post(`${consoleOf(platform)}${action}`, sent);
    expect([refused.status(), (await refused.text()).includes('approval_of_requester')]).toEqual([409, true]);
    await other.row.getByRole('button', { name: 'Approve' }).click();
    const requester = platform.status().administrators?.[0]?.split('|')[1] ?? '';
    await other.row.getByText(`Approved by eve. ${requester} can now repeat the command.`).waitFor();
    expect(await other.row.getByRole('button').count()).toBe(0);

    await page.reload();
    await administrator.row.getByText('It is approved. You can now repeat the command.').waitFor();
    await apply();
    await page.waitForURL('**/overview');
    await page.goto(`${consoleOf(platform)}/approvals`);
    await page.getByText('No command waits for an approval').waitFor();
    expect([...viewer.complaints, ...other.complaints]).toEqual([]);
  });

  test('a person without any right sees no approvals of others, and a removed approval is a refusal', async () => {
    const { page, context } = await open('/approvals', 'ann');
    await page.getByText('No command waits for an approval').waitFor();
    expect(await page.getByRole('navigation').getByRole('link', { name: 'Approvals' }).count()).toBe(0);
    const csrf = (await page.locator('meta[name="csrf"]').getAttribute('content')) ?? '';
    const path = '/approvals/01900000-0000-7000-8000-000000000001/approve';
    const sent = { headers: { origin: consoleOf(platform) }, form: { csrf } };
    const answer = await context.request.post(`${consoleOf(platform)}${path}`, sent);
    expect([answer.status(), (await answer.text()).includes('approval_not_found')]).toEqual([404, true]);
  });
});
