import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { flowText } from '#flow/testing/flow-text';
import { type ManagementApi, noRights } from '../clients/management-api.ts';
import type { TenantApi } from '../clients/tenant-api.ts';
import type { PageContext } from '../pages/page.ts';
import { en } from '../words/en.ts';
import { addAgentRoutes } from './agent-routes.ts';
import type { ConsoleEnvironment } from './environment.ts';

const id = '01900000-0000-7000-8000-000000000001';
const path = `/agents/${id}`;
const record = {
  ...{ agentId: id, name: 'Desk', description: '', workspace: 'w', protocol: 'a2a', implementationType: 'low-code' },
  ...{ state: 'running', skills: [], owner: { ownerType: 'user', ownerIssuer: 'http://issuer', ownerSubject: 'ann' } },
};
const version = {
  ...{ name: 'desk-1', versionId: id, roles: ['served'], percent: null, state: 'ready', hasFlow: true },
  ...{ isUnguarded: false, summary: '', whatToDo: null },
};
const managed = {
  name: 'desk',
  agentId: id,
  state: 'ready',
  summary: '',
  whatToDo: null,
  steps: [],
  versions: [version],
};
const refused = { kind: 'refused', status: 403, code: 'permission_denied', message: 'No right.' } as const;

const known = { kind: 'value', value: record, etag: undefined };
const absent = { kind: 'refused', status: 404, code: 'not_found', message: '' };

/**
 * Opens the pages of an agent of ann for a person without the right to view; `asked` lists the requests to the
 * management API.
 */
function open(subject: string, answerOf: (path: string) => unknown, view = false, recordAnswer: unknown = known) {
  const rights = { ...noRights, view };
  const session = { subject, csrf: '', rights };
  const asked: string[] = [];
  const call = async (asking: string) => {
    asked.push(asking);
    return answerOf(asking);
  };
  const app = new Hono<ConsoleEnvironment>();
  app.use(async (context, next) => {
    const page = { words: en, language: 'en', theme: 'auto', path: '/', here: '/', has: {}, assets: '1', session };
    context.set('page', page as unknown as PageContext);
    context.set('session', session as unknown as ConsoleEnvironment['Variables']['session']);
    const ownRights = async () => ({ kind: 'value', value: rights, etag: undefined });
    context.set('management', { call, ownRights } as unknown as ManagementApi);
    await next();
  });
  const page = { items: [record], nextCursor: null };
  const answered = async (asking: string) =>
    asking.includes('?') ? { kind: 'value', value: page, etag: undefined } : recordAnswer;
  const catalogue = { call: answered } as unknown as TenantApi;
  addAgentRoutes(app, { apiOf: () => catalogue, gatewayOf: undefined });
  const request = async (at: string) => app.request(at);
  return { asked, request, read: async (at: string): Promise<string> => (await request(at)).text() };
}

const answers = (asking: string) => ({
  kind: 'value',
  value: asking.endsWith('/flow') ? { name: 'desk-1', flow: flowText() } : managed,
  etag: undefined,
});

test('the owner of an agent sees its versions and its flow even without the right to view', async () => {
  const { read } = open('ann', answers);
  const shown = await read(path);
  expect(shown).toContain(`href="${path}/versions/${id}/flow"`);
  expect(shown).not.toContain(en.agentPages.versionsHidden);
  expect(await read(`${path}/versions/${id}/flow`)).toContain(`src="${path}/versions/${id}/flow.svg"`);
});

test('the console sends no request to the management API for a person who does not own the agent', async () => {
  const { asked, read } = open('bob', answers);
  expect(await read(path)).toContain(en.agentPages.versionsHidden);
  expect(asked).toEqual([]);
});

test('a person with the name of the owner, whom the management API refuses, sees no versions', async () => {
  const { asked, read } = open('ann', () => refused);
  expect(await read(path)).toContain(en.agentPages.versionsHidden);
  expect(asked).toEqual([`/api/v1${path}`]);
});

test.each([
  ['is away', { kind: 'away' }, 502, undefined],
  ['has a limit of requests', { ...absent, status: 429, code: 'rate_limited' }, 429, 'rate_limited'],
  ['is not ready', { ...absent, status: 503, code: 'records_unavailable' }, 503, 'records_unavailable'],
  ['does not know the agent', absent, 404, 'not_found'],
])(
  'the page of an agent without a record has the answer of a management API that %s',
  async (_, answer, status, code) => {
    const response = await open('bob', () => answer, true, absent).request(path);
    expect(response.status).toBe(status);
    expect(/<code>(\w+)<\/code>/.exec(await response.text())?.[1]).toBe(code);
  },
);

test('an agent without a record has a page only for a person with the right to view', async () => {
  expect((await open('bob', answers, true, absent).request(path)).status).toBe(200);
  expect((await open('bob', answers, false, absent).request(path)).status).toBe(404);
});

test('a person with the right to view sees the versions without an agent and the next step, any other person does not', async () => {
  const withoutAgent = { items: [{ name: 'lost-1', agent: 'lost', createdAt: '2026-01-31T09:00:00Z' }] };
  const lists = (asking: string) => ({
    kind: 'value',
    value: asking.startsWith('/api/v1/agent-versions/') ? withoutAgent : { items: [] },
    etag: undefined,
  });
  const shown = await open('bob', lists, true).read('/agents');
  for (const text of [en.agentPages.withoutAgent, 'lost-1', 'portcullis apply -f FILE']) expect(shown).toContain(text);
  const { asked, read } = open('ann', lists);
  const hidden = await read('/agents');
  for (const text of [en.agentPages.withoutAgent, 'lost-1']) expect(hidden).not.toContain(text);
  expect(asked).toEqual([]);
});

test('if every version has an agent, the page has no section about versions without an agent', async () => {
  const lists = () => ({ kind: 'value', value: { items: [] }, etag: undefined });
  expect(await open('bob', lists, true).read('/agents')).not.toContain(en.agentPages.withoutAgent);
});

/** The answer to a search without a workspace over a catalogue with one agent in each of many workspaces. */
async function searchEverywhere(workspaces: number) {
  const searched: string[] = [];
  const all = Array.from({ length: workspaces }, (_, at) => ({ ...record, workspace: `w-${at}` }));
  const call = async (
    asking: string,
    _schema: unknown,
    sent?: { readonly body?: { readonly workspaceId: string } },
  ) => {
    if (sent?.body !== undefined) searched.push(sent.body.workspaceId);
    const first = Number(new URLSearchParams(asking.split('?')[1]).get('cursor') ?? '0');
    const next = first + 100 < all.length ? String(first + 100) : null;
    const matches = all.filter(({ workspace }) => workspace === sent?.body?.workspaceId);
    const page = { items: all.slice(first, first + 100), nextCursor: next };
    return { kind: 'value', etag: undefined, value: sent === undefined ? page : { matches } };
  };
  const app = new Hono<ConsoleEnvironment>();
  app.use(async (context, next) => {
    context.set('page', { words: en, language: 'en' } as unknown as PageContext);
    await next();
  });
  addAgentRoutes(app, { apiOf: () => ({ call }) as unknown as TenantApi, gatewayOf: undefined });
  const body = new URLSearchParams({ task: 'tickets', workspace: '' });
  const headers = { 'hx-request': 'true' };
  const shown = await (await app.request('/agents/search', { method: 'POST', body, headers })).text();
  return { searched, shown };
}

test('a search in all workspaces covers each of them, including those of later pages', async () => {
  const { searched, shown } = await searchEverywhere(40);
  expect(searched).toEqual(Array.from({ length: 40 }, (_, at) => `w-${at}`));
  expect(shown).not.toContain('further workspaces');
});

test('a search that cannot query every workspace says how many it queried', async () => {
  const { searched, shown } = await searchEverywhere(101);
  expect(searched).toHaveLength(40);
  expect(shown).toContain(en.agentPages.searchedOnly(40));
});
