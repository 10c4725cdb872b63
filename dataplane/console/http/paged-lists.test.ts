import { Hono } from 'hono';
import { expect, test } from 'vitest';
import type { ApiAnswer } from '../clients/call-api.ts';
import { type ManagementApi, noRights } from '../clients/management-api.ts';
import type { TenantApi } from '../clients/tenant-api.ts';
import type { PageContext } from '../pages/page.ts';
import { en } from '../words/en.ts';
import { addCheckRoutes } from './check-routes.ts';
import type { ConsoleEnvironment } from './environment.ts';
import { addKnowledgeRoutes } from './knowledge-routes.ts';
import { addMemoryRoutes } from './memory-routes.ts';
import { addPolicyRoutes } from './policy-routes.ts';

const id = '01900000-0000-7000-8000-000000000001';
const at = '2026-01-31T09:00:00Z';
const rights = { ...noRights, view: true, author: true, apply: true, administer: true };
const session = { subject: 'ann', csrf: '', rights };
const policy = {
  ...{ id, name: 'Chat', description: '', status: 'draft', revision: 3, ruleCount: 1, ruleKinds: [] },
  ...{ createdAt: at, updatedAt: at, definitionDigest: 'a'.repeat(64) },
};
const collection = { collection_id: id, name: 'handbook', description: '', status: 'ready' };
const refused = { kind: 'refused', status: 503, code: 'records_unavailable', message: 'No database.' } as const;

/** The pages over services that give `answers` or `refusals` by a part of the path; `asked` lists the paths of the requests. */
function open(answers: Readonly<Record<string, unknown>>, refusals: Readonly<Record<string, object>> = {}) {
  const asked: string[] = [];
  const call = async (path: string): Promise<ApiAnswer<unknown>> => {
    asked.push(path);
    const [, refusal] = Object.entries(refusals).find(([part]) => path.includes(part)) ?? [];
    if (refusal !== undefined) return refusal as ApiAnswer<unknown>;
    const [, value] = Object.entries(answers).find(([part]) => path.includes(part)) ?? [];
    return value === undefined ? refused : { kind: 'value', value, etag: undefined };
  };
  const management = { call, overview: async () => refused, ownRights: () => call('/own-rights') };
  const app = new Hono<ConsoleEnvironment>();
  app.use(async (context, next) => {
    const page = { words: en, language: 'en', theme: 'auto', path: '/', here: '/', has: {}, assets: '1', session };
    context.set('page', page as unknown as PageContext);
    context.set('session', session as unknown as ConsoleEnvironment['Variables']['session']);
    context.set('management', management as unknown as ManagementApi);
    await next();
  });
  const apiOf = () => ({ call }) as unknown as TenantApi;
  addCheckRoutes(app);
  addPolicyRoutes(app);
  addMemoryRoutes(app, apiOf);
  addKnowledgeRoutes(app, { apiOf, tenant: 'default', persons: [] });
  const read = async (path: string, init?: RequestInit): Promise<string> => (await app.request(path, init)).text();
  return { asked, read };
}

const linksIn = (text: string) =>
  [...text.matchAll(/<a href="([^"]*)">(First|Next) page<\/a>/g)].map(([, href = '']) => href.replaceAll('&amp;', '&'));

test.each([
  ['/policies', 'cursor', '/guardrail-policies', { items: [policy], nextCursor: 'b&c' }, 'cursor=a%26b'],
  [`/policies/${id}`, 'before', '/revisions', { items: [policy], nextBeforeRevision: 51 }, 'beforeRevision=a%26b'],
  ['/memory', 'page', '/v1/memories', { results: [], next_page_token: 'b&c' }, 'page_token=a%26b'],
  [`/knowledge/${id}`, 'page', '/documents', { items: [], next_page_token: 'b&c' }, 'page_token=a%26b'],
])(
  'the list at %s links to its next page, and from there to the first one',
  async (path, parameter, part, list, sent) => {
    const answers = {
      [part]: list,
      '/own-rights': rights,
      '/v1/jobs': { items: [] },
      [`/${id}`]: { ...policy, ...collection },
    };
    const { asked, read } = open(answers);
    const next = `${path}?${parameter}=${parameter === 'before' ? '51' : 'b%26c'}`;
    expect(linksIn(await read(path))).toEqual([next]);
    expect(linksIn(await read(`${path}?${parameter}=a%26b`))).toEqual([path, next]);
    expect(asked.filter((one) => one.includes(sent))).toHaveLength(1);
    const last = Object.fromEntries(
      Object.entries(list).map(([name, value]) => [name, name.startsWith('next') ? null : value]),
    );
    expect(linksIn(await open({ ...answers, [part]: last }).read(path))).toEqual([]);
  },
);

test('the list of collections leads to the collections after the last shown one, and from there to the first page', async () => {
  const all = Array.from({ length: 51 }, (_, at) => ({ ...collection, name: `a&b ${at + 10}` }));
  const { asked, read } = open({ '/v1/collections': all });
  const first = await read('/knowledge');
  expect(linksIn(first)).toEqual(['/knowledge?page=a%26b+59']);
  expect([first.includes('a&amp;b 59'), first.includes('a&amp;b 60')]).toEqual([true, false]);
  const last = open({ '/v1/collections': all.slice(0, 50) });
  expect(linksIn(await last.read('/knowledge?page=a%26b+59'))).toEqual(['/knowledge']);
  const path = '/v1/collections?limit=51';
  expect([...asked, ...last.asked]).toEqual([path, `${path}&after=a%26b+59`]);
});

test('a person who may read only single policies gets pages of these policies, newest first, and no list is requested from the API', async () => {
  const ids = Array.from({ length: 21 }, (_, number) => `01900000-0000-7000-8000-${String(number).padStart(12, '0')}`);
  const own = { '/own-rights': { ...rights, view: false, viewedPolicies: ids }, '/guardrail-policies/': policy };
  const { asked, read } = open(own);
  const reads = () => asked.filter((one) => one.includes('/guardrail-policies')).map((one) => one.split('/').at(-1));
  expect(linksIn(await read('/policies'))).toEqual([`/policies?cursor=${ids[1]}`]);
  expect(reads()).toEqual(ids.slice(1).toReversed());
  const last = open(own);
  expect(linksIn(await last.read(`/policies?cursor=${ids[1]}`))).toEqual(['/policies']);
  expect(last.asked.filter((one) => one.includes('/guardrail-policies'))).toEqual([
    `/api/v1/guardrail-policies/${ids[0]}`,
  ]);
  const whole = open({ ...own, '/own-rights': { ...rights, view: false, viewedPolicies: ids.slice(1) } });
  expect(linksIn(await whole.read('/policies'))).toEqual([]);
  expect(await open({ '/own-rights': own['/own-rights'] }).read('/policies')).toContain('records_unavailable');
});

test('documents that cannot be read are an error on the page of their collection, and no empty list', async () => {
  const path = `/knowledge/${id}`;
  const answers = { '/v1/jobs': { items: [] }, '/documents': { items: [], next_page_token: null }, [id]: collection };
  expect(await open(answers).read(path)).toContain(en.know.documentsNone);
  const text = await open({ ...answers, '/documents': undefined }).read(path);
  expect(text).toContain('records_unavailable');
  expect(text).not.toContain(en.know.documentsNone);
});

test('the playground opens a policy that is not on the first page of the list, and shows that the list has more pages', async () => {
  const others = { items: [{ ...policy, id: id.replace(/1$/, '2'), name: 'Newer' }], nextCursor: 'x' };
  const { read } = open({ '/own-rights': rights, '?limit': others, [`/${id}`]: policy });
  const text = await read(`/playground?policy=${id}`);
  expect(text).toMatch(new RegExp(`<option value="${id}" selected>Chat</option>`));
  expect(text).toContain('name="revision" type="number" min="1" value="3"');
  expect(text).toContain(en.play.morePolicies);
  const whole = await open({ '/own-rights': rights, '?limit': { ...others, nextCursor: null } }).read('/playground');
  expect(whole).not.toContain(en.play.morePolicies);
});

test('the playground chooses no other policy in place of one that does not exist, and says why', async () => {
  const list = { items: [policy], nextCursor: null };
  const other = id.replace(/1$/, '2');
  const absent = { kind: 'refused', status: 404, code: 'policy_not_found', message: 'Gone.' } as const;
  const { read } = open({ '/own-rights': rights, '?limit': list }, { [`/${other}`]: absent });
  const text = await read(`/playground?policy=${other}&revision=7`);
  expect(text).toContain('<code>policy_not_found</code>');
  expect(text).toMatch(/<option value="" selected><\/option><option value="[^"]*" >Chat/);
  expect(text).not.toContain('value="7"');
  expect(text).not.toContain(`/policies/${other}`);
  const late = await open({ '/own-rights': rights, '?limit': list }).read(`/playground?policy=${other}`);
  expect([late.includes('records_unavailable'), late.includes('name="policy"')]).toEqual([true, false]);
});

test('the playground of an author of single policies has the newest first, and says that one cannot be read now', async () => {
  const ids = [1, 2].map((last) => id.replace(/1$/, String(last)));
  const own = { '/own-rights': { ...noRights, policies: ids, viewedPolicies: ids } };
  const read = (at: number) => ({ [`/${ids[at]}`]: { ...policy, id: ids[at], name: `No${at}` } });
  const whole = await open({ ...own, ...read(0), ...read(1) }).read('/playground');
  expect([...whole.matchAll(/>(No\d)</g)].map(([, name]) => name)).toEqual(['No1', 'No0']);
  const { read: other } = open({ ...own, ...read(1) });
  const part = await other('/playground');
  expect([
    part.includes('records_unavailable'),
    part.includes('name="policy"'),
    part.includes(en.policyPages.none),
  ]).toEqual([true, false, false]);
});

test('another policy in the playground loads its newest revision, or no revision and the reason', async () => {
  const path = `/playground/revision?policy=${id}`;
  expect(await open({ [`/${id}`]: policy }).read(path)).toContain('value="3"');
  const refusal = await open({}).read(path);
  expect(refusal).toContain('name="revision" type="number" min="1" value=""');
  expect(refusal).toContain('records_unavailable');
});

test('the outcome in the playground names the policy and the revision that decided', async () => {
  const result = { name: 'messages', decision: 'Pass', rules: [], contents: null, marks: [], skipped: [], code: null };
  const answers = { '/revisions/2': policy, '/policy-checks': { results: [result] } };
  const body = new URLSearchParams({ policy: id, revision: '2', stage: 'request', role: 'user', text: 'hello' });
  expect(await open(answers).read('/playground/check', { method: 'POST', body })).toContain('Policy Chat, Revision 2');
});
