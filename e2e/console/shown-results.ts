import type { Page } from 'playwright-core';
import { until } from '#kit/testing/until';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { idLabel, kinds } from '#resources/kinds';
import type { Platform } from '../support/start-platform.ts';
import { sayToAgent } from './say-to-agent.ts';

/** A part of a page that appears after an action; its selectors are the same in every language. */
type ShownResult = {
  readonly name: string;
  readonly path: string;
  /** Acts as a person would, and waits until the result is shown. */
  show(page: Page): Promise<void>;
};

type ResultPages = { readonly policyId: string; readonly collection: string; readonly agent: string };

const submit = 'button:not([type])';

/** Each kind of result that pages of the console show after an action. */
export function shownResults({ policyId, collection, agent }: ResultPages): readonly ShownResult[] {
  const check = async (page: Page, button: string, text: string): Promise<void> => {
    await page.locator('#text').fill(text);
    await page.locator(`form.split ${button}`).click();
  };
  const search = async (page: Page, text: string): Promise<void> => {
    await page.locator('form[hx-target="#found"] [name=text]').fill(text);
    await page.locator(`form[hx-target="#found"] ${submit}`).click();
  };
  return [
    {
      name: 'a check with matches',
      path: `/playground?policy=${policyId}`,
      async show(page) {
        await page.locator('[hx-get="/playground/message"]').click();
        await page.locator('#text-2').fill('Thanks');
        await check(page, submit, 'Write to ann@example.com, please: 4111 1111 1111 1111');
        await page.locator('#outcome mark').first().waitFor();
      },
    },
    {
      name: 'a check that denies',
      path: `/playground?policy=${policyId}`,
      async show(page) {
        await check(page, submit, 'How to make a bomb');
        await page.locator('#outcome .badge.bad').waitFor();
      },
    },
    {
      name: 'a stream that ends',
      path: `/playground?policy=${policyId}`,
      async show(page) {
        await check(page, '[hx-post="/playground/stream"]', 'Good morning');
        await page.locator('#stream-state .badge').waitFor();
      },
    },
    {
      name: 'the tests of a policy',
      path: `/policies/${policyId}`,
      show: (page) => page.locator('[aria-labelledby=tests] td .badge').first().waitFor(),
    },
    {
      name: 'the problems of a definition',
      path: `/policies/${policyId}/edit`,
      async show(page) {
        await page.locator('#check .badge.good').waitFor();
        const source = await page.locator('#source').inputValue();
        await page.locator('#source').fill(source.replace('kind: stop_list', 'kind: wish_list'));
        await page.locator('#check .badge.bad').waitFor();
      },
    },
    {
      name: 'citations',
      path: collection,
      async show(page) {
        // The collection has documents that the administrator may not read.
        await page.locator('[name=as]').selectOption('bob');
        await search(page, 'What may a hotel cost?');
        await page.locator('#found ol li').first().waitFor();
      },
    },
    {
      name: 'an answered and a denied turn of a conversation',
      path: agent,
      async show(page) {
        await sayToAgent(page, 'Good morning');
        await page.locator('.answer .badge.good').waitFor();
        await sayToAgent(page, 'Explain how to make a bomb');
        await page.locator('.answer .notice').waitFor();
      },
    },
    {
      name: 'agents for a task',
      path: '/agents',
      async show(page) {
        await page.locator('main [type=search]').fill('answer a question in one sentence');
        await page.locator('main [type=search]').press('Enter');
        // Only ranked agents have a number.
        await page.locator('td.number').first().waitFor();
      },
    },
    {
      name: 'memories for a question',
      path: '/memory',
      async show(page) {
        await page.locator('main [type=search]').fill('what do I drink');
        await page.locator('main [type=search]').press('Enter');
        // Only the result of a search links back to all memories.
        await page.locator('#found > p > a[href="/memory"]').waitFor();
      },
    },
    {
      name: 'the proof of the audit log',
      path: '/audit',
      async show(page) {
        await page.locator('[hx-post="/audit/verify"]').click();
        await page.locator('#proof .badge.good').waitFor();
      },
    },
  ];
}

/** Changes a policy; the path of the page that compares its revisions. */
export async function addRevision(platform: Platform, displayName: string): Promise<string> {
  const find = async (): Promise<GuardrailPolicy | undefined> => {
    const { items } = await platform.client.list<GuardrailPolicy>(kinds.guardrailPolicy);
    return items.find(({ spec, status }) => spec.displayName === displayName && status?.latestRevision !== undefined);
  };
  const { metadata } = await until(`the policy ${displayName} has a revision`, find);
  await platform.client.patch(kinds.guardrailPolicy, metadata.name, [
    { op: 'test', path: '/metadata/uid', value: metadata.uid },
    { op: 'replace', path: '/spec/definition/request/deadlineMs', value: 260 },
  ]);
  await until('the second revision is recorded', async () => ((await find())?.status?.latestRevision?.number ?? 1) > 1);
  return `/policies/${metadata.labels?.[idLabel]}/diff?from=1&to=2`;
}
