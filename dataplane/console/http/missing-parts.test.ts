import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { type ManagementApi, noRights } from '../clients/management-api.ts';
import type { TenantApi } from '../clients/tenant-api.ts';
import type { PageContext } from '../pages/page.ts';
import { en } from '../words/en.ts';
import { addAgentRoutes } from './agent-routes.ts';
import { addApprovalRoutes } from './approval-routes.ts';
import { addAuditRoutes } from './audit-routes.ts';
import type { ConsoleEnvironment } from './environment.ts';
import { addKnowledgeRoutes } from './knowledge-routes.ts';
import { addPolicyRoutes } from './policy-routes.ts';

const id = '01900000-0000-7000-8000-000000000001';
const at = '2026-01-31T09:00:00Z';
const rights = { ...noRights, view: true, author: true, apply: true, administer: true };
const person = { subject: 'ann', csrf: '', token: 'none' };
const policy = {
  ...{ id, name: 'Chat', description: '', status: 'draft', revision: 3, ruleCount: 1, ruleKinds: [] },
  ...{ createdAt: at, updatedAt: at, definitionDigest: 'a'.repeat(64) },
};
const record = {
  ...{ agentId: id, name: 'Desk', description: '', workspace: 'w', protocol: 'a2a', implementationType: 'low-code' },
  ...{ state: 'running', skills: [], owner: { ownerType: 'user', ownerIssuer: 'http://issuer', ownerSubject: 'ann' } },
};
const managed = {
  ...{ name: 'desk', agentId: id, state: 'ready', summary: '' },
  whatToDo: null,
  steps: [],
  versions: [],
};
/** Answers by the beginning of the path; the longest beginning that matches is used. */
const answers: Readonly<Record<string, unknown>> = {
  '/api/v1/guardrail-policies': { items: [policy], nextCursor: null },
  [`/api/v1/guardrail-policies/${id}`]: policy,
  [`/api/v1/guardrail-policies/${id}/revisions`]: { items: [policy], nextBeforeRevision: null },
  '/api/v1/overview': { mark: '1', models: [], deletingPolicies: [] },
  '/api/v1/own-rights': rights,
  '/api/v1/approvals': { items: [] },
  '/api/v1/audit': { items: [], nextCursor: null },
  '/api/v1/audit/chains': { items: [] },
  '/api/v1/agents': { items: [], nextCursor: null },
  [`/api/v1/agents/${id}`]: { ...managed, ...record },
  '/api/v1/agent-versions/without-agent': { items: [] },
  [`/agents/${id}/runs`]: { all: true, runs: [] },
  '/v1/collections/': { collection_id: id, name: 'handbook', description: '', status: 'ready' },
  [`/v1/collections/${id}/documents`]: { items: [], next_page_token: null },
  '/v1/jobs': { items: [] },
};

/** A page over services that answer, but for the paths that begin with `absent`, which have `other`. */
async function read(path: string, absent: string | undefined, other: object, view = true): Promise<string> {
  const call = async (asked: string) => {
    if (!view && asked === '/api/v1/overview') throw new Error('the overview was asked for');
    if (!view && asked === '/api/v1/own-rights') return { kind: 'value', value: noRights, etag: undefined };
    const [found = ''] = Object.keys(answers)
      .filter((begin) => asked.startsWith(begin))
      .toSorted((one, two) => two.length - one.length);
    return found === absent ? other : { kind: 'value', value: answers[found], etag: undefined };
  };
  const management = {
    call,
    overview: () => call('/api/v1/overview'),
    ownRights: () => call('/api/v1/own-rights'),
  } as unknown as ManagementApi;
  const app = new Hono<ConsoleEnvironment>();
  app.use(async (context, next) => {
    const session = { ...person, rights: { ...rights, view } };
    const page = { words: en, language: 'en', theme: 'auto', path: '/', here: '/', has: {}, assets: '1', session };
    context.set('page', page as unknown as PageContext);
    context.set('session', session as unknown as ConsoleEnvironment['Variables']['session']);
    context.set('management', management);
    await next();
  });
  const apiOf = () => ({ call }) as unknown as TenantApi;
  addPolicyRoutes(app);
  addApprovalRoutes(app);
  addAuditRoutes(app, new AbortController().signal);
  addKnowledgeRoutes(app, { apiOf, tenant: 'default', persons: [] });
  addAgentRoutes(app, { apiOf, gatewayOf: apiOf });
  return (await app.request(path, { headers: { 'hx-request': 'true' } })).text();
}

const parts = [
  ['/policies', '/api/v1/overview', 'Used by'],
  [`/policies/${id}`, '/api/v1/overview', 'Used by, Edit, Apply to a model'],
  [`/policies/${id}`, '/api/v1/own-rights', 'what you may change here'],
  ['/agents', '/api/v1/agent-versions/without-agent', 'Versions without an agent'],
  ['/approvals', '/api/v1/overview', 'Object'],
  [`/agents/${id}`, `/agents/${id}/runs`, 'Runs'],
  [`/knowledge/${id}`, '/v1/jobs', 'Add a document'],
  ['/audit', '/api/v1/audit/chains', 'Service'],
] as const;
const busy = { kind: 'refused', status: 429, code: 'rate_limited', message: '' };

test.each(parts)('the page %s names the missing part while %s has no answer: %s', async (path, absent, names) => {
  const failed = { ...busy, status: 500, code: 'internal' };
  for (const other of [{ kind: 'away' }, busy, { ...busy, status: 503, code: 'records_unavailable' }, failed]) {
    const text = await read(path, absent, other);
    expect(text).toContain(en.errors.missing(names));
    expect(text.includes('<code>')).toBe('code' in other);
  }
  expect(await read(path, undefined, busy)).not.toContain(en.errors.incomplete);
});

test.each(parts)('the page %s is complete for a person to whom the API refuses %s', async (path, absent) => {
  const text = await read(path, absent, { ...busy, status: 403, code: 'permission_denied' });
  expect(text).not.toContain(en.errors.incomplete);
});

test('the page of a policy does not request the overview for a person without the right to view it', async () => {
  expect(await read(`/policies/${id}`, undefined, busy, false)).toContain(en.policyPages.history);
});
