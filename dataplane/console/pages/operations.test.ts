import { expect, test } from 'vitest';
import type { ListedOperation } from '#contracts/operations';
import { en } from '../words/en.ts';
import { operationPolling } from './operation-polling.ts';
import { operationListPage, operationPage, operationState } from './operations.ts';
import type { PageContext } from './page.ts';

const [operationId, modelId, policyId] = ['1', '2', '3'].map((end) => `01900000-0000-7000-8000-00000000000${end}`);
const operation = {
  ...{
    operationId,
    kind: 'binding.apply',
    state: 'running',
    target: { type: 'model', id: modelId },
    targetName: 'chat',
  },
  ...{ result: null, error: null, createdAt: '2026-01-31T09:00:00Z', updatedAt: '2026-01-31T09:00:00Z' },
  author: { kind: 'token', issuer: 'http://issuer.test', subject: 'ann', actors: [] },
  message: 'for <b>sales</b>',
  ...{ wanted: { policyId, policyName: 'Chat', revision: 3 }, overridesFreeze: false },
} as unknown as ListedOperation;
const contextOf = (rights: { readonly view: boolean; readonly administer: boolean }) =>
  ({ words: en, language: 'en', session: { csrf: '', rights } }) as unknown as PageContext;
const administrator = contextOf({ view: true, administer: true });
const isReadable = () => true;
const filters = { kind: '', state: '', subject: '', targetId: '' };
const stateOf = async (change: Partial<ListedOperation>, progress?: { confirmed: number; expected: number }) =>
  String(await operationState(en, { ...operation, ...change }, { progress }));
const pageOf = async (page: PageContext, change: Partial<ListedOperation> = {}) =>
  String(await operationPage(page, { one: { ...operation, ...change }, isReadable }).main);

test('an operation that has not ended shows how many replicas confirmed', async () => {
  const running = await stateOf({}, { confirmed: 1, expected: 3 });
  expect(running).toMatch(/<progress max="3" value="1".*1 of 3 confirmed/);
  expect(await stateOf({ state: 'pending' }, { confirmed: 0, expected: 0 })).toContain('<progress max="1" value="0"');
  expect(await stateOf({ state: 'succeeded' })).not.toContain('progress');
});

test('a page requests the states of all of its open operations in one request, and of no other operation', async () => {
  const ended = { ...operation, operationId: policyId, state: 'succeeded' } as ListedOperation;
  const other = { ...operation, operationId: modelId } as ListedOperation;
  const found = { items: [operation, ended, other], nextCursor: null };
  const list = String(await operationListPage(administrator, { filters, found, isLater: false, isReadable }).main);
  expect(list.match(/hx-get="[^"]*"/g)).toEqual([
    `hx-get="/operations/states?turn=1&amp;id=${operationId}&amp;id=${modelId}"`,
  ]);
  const onlyEnded = { filters, found: { items: [ended], nextCursor: null }, isLater: false, isReadable };
  expect(String(await operationListPage(administrator, onlyEnded).main)).not.toContain('hx-get');
  expect(await pageOf(administrator)).toContain(`hx-get="/operations/states?turn=1&amp;id=${operationId}"`);
  expect(await pageOf(administrator, { state: 'failed' })).not.toContain('hx-get');
});

test.each([
  [1, 0, false, 2],
  [10, 0, false, 2],
  [11, 0, false, 3],
  [100, 0, false, 20],
  [1, 29, false, 2],
  [1, 30, false, 5],
  [1, 59, false, 5],
  [1, 60, false, 15],
  [100, 60, false, 20],
  [1, 0, true, 4],
  [11, 0, true, 6],
])(
  '%i open operations are requested, after %i requests and with a refusal: %s, every %i seconds',
  async (open, turn, isSlow, seconds) => {
    const ids = Array.from({ length: open }, (_, at) => String(at));
    expect(String(await operationPolling(ids, { turn, isSlow }))).toContain(`hx-trigger="every ${seconds}s"`);
  },
);

test('a failed operation has its code, its meaning and its cause as text, and is not polled again', async () => {
  const error = {
    code: 'policy_invalid',
    message: 'The policy <is> invalid.',
    cause: 'rule <b>',
    traceId: 't',
  } as const;
  const failed = await stateOf({ state: 'failed', error: error as unknown as ListedOperation['error'] });
  expect(failed).toContain('<code>policy_invalid</code> The policy &lt;is&gt; invalid.');
  expect(failed).toContain('Cause: rule &lt;b&gt;');
  expect(failed).not.toContain('hx-get');
});

test('the page of an operation links only to pages that the person may open and to objects that exist', async () => {
  const whole = await pageOf(administrator);
  for (const href of [`/overview?model=${modelId}`, `/policies/${policyId}`, `/audit?operationId=${operationId}`])
    expect(whole).toContain(`href="${href}"`);
  expect(whole).toContain('<th scope="row">Message</th><td>for &lt;b&gt;sales&lt;/b&gt;</td>');
  expect(await pageOf(administrator, { message: null })).not.toContain('Message');
  const own = await pageOf(contextOf({ view: false, administer: false }));
  expect(own).not.toMatch(/href="\/(overview|audit)/);
  const gone = { targetName: null, wanted: { policyId: policyId ?? '', policyName: null, revision: 3 } };
  expect(await pageOf(administrator, gone)).not.toMatch(/href="\/(overview|policies)/);
  const actors = [{ issuer: 'http://issuer.test', subject: 'helper' }];
  const acted = { author: { kind: 'token' as const, issuer: 'http://issuer.test', subject: 'ann', actors } };
  expect(await pageOf(administrator, acted)).toContain('ann, sent by helper');
});

test('a policy that the person may not read has its name and no link', async () => {
  const policy = { type: 'policy', id: policyId } as ListedOperation['target'];
  for (const change of [{}, { target: policy }]) {
    const one = { ...operation, ...change };
    const shownTo = async (readable: string) =>
      String(await operationPage(administrator, { one, isReadable: (id) => id === readable }).main);
    expect(await shownTo(policyId ?? '')).toContain(`href="/policies/${policyId}"`);
    const other = await shownTo('');
    expect([other.includes('/policies/'), other.includes('Chat')]).toEqual([false, true]);
  }
});

test('the list of operations keeps its filters in the links to other pages, and an empty list shows a hint', async () => {
  const found = { items: [operation], nextCursor: 'b&c' };
  const shown = { filters: { ...filters, state: 'running' }, found, isLater: true, isReadable };
  const list = String(await operationListPage(administrator, shown).main);
  expect(list).toContain('href="/operations?state=running&amp;cursor=b%26c"');
  expect(list).toContain('href="/operations?state=running"');
  expect(list).toContain('<option value="running" selected>');
  expect(list).toContain('<td>for &lt;b&gt;sales&lt;/b&gt;</td>');
  const none = { items: [], nextCursor: null };
  const empty = async (given: typeof filters) =>
    String(await operationListPage(administrator, { filters: given, found: none, isLater: false, isReadable }).main);
  expect(await empty(filters)).toContain(en.operationPages.noneText);
  expect(await empty({ ...filters, subject: 'x' })).toContain('<a href="/operations">All operations</a>');
});
