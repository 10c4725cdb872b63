import { expect, test } from 'vitest';
import type { AuditEntry } from '#contracts/audit';
import { en } from '../words/en.ts';
import { auditFilterNames, auditPage } from './audit.ts';
import type { PageContext } from './page.ts';

const agentId = '01900000-0000-8000-8000-000000000001';
const page = { words: en, language: 'en', has: { agents: true } } as unknown as PageContext;
const filters = Object.fromEntries(auditFilterNames.map((name) => [name, ''])) as never;
const digest = '0'.repeat(64);

async function pageOf(content: Partial<AuditEntry['content']>, context = page): Promise<string> {
  const entry: AuditEntry = {
    ...{ chain: 'management', number: 7, previous: digest, hash: digest },
    content: {
      ...{ time: '2026-01-31T09:00:00.000Z', action: 'agent.serve', outcome: 'observed', code: null, client: 'none' },
      ...{ author: { kind: 'claimed', name: 'kubectl-edit (field manager)' }, target: { type: 'agent', id: agentId } },
      ...{ operationId: null, traceId: null, before: null, after: null, count: 1, since: null, ...content },
    } as AuditEntry['content'],
  };
  const found = { items: [entry], nextCursor: null };
  return String(await auditPage(context, { filters, chains: [], found, isLater: false }).main);
}

test('an audit entry of a switch has its author, a link to the agent, and the versions before and after', async () => {
  const before = { version: 'desk-1', canary: null };
  const after = { version: 'desk-1', canary: { version: 'desk-2', percent: 10 } };
  const shown = await pageOf({ serving: { before, after } });
  expect(shown).toContain('kubectl-edit (field manager)');
  expect(shown).toContain(`<a href="/agents/${agentId}">agent ${agentId}</a>`);
  expect(shown).toContain('Version: desk-1 → desk-1, 10 % desk-2');
  expect(await pageOf({ action: 'agent.delete', serving: { before, after: null } })).toContain('Version: desk-1 → —');
});

test('an audit entry of rights has their numbers and the holders, as text', async () => {
  const access = {
    before: { count: 3, digest },
    after: { count: 4, digest },
    granted: ['invoke User https://idp|<b>bob</b>', 'view Group acme/all'],
    revoked: ['view User https://idp|ann'],
  };
  const shown = await pageOf({ action: 'agent.access', access });
  for (const text of [
    'Rights: 3 → 4',
    '+ invoke User https://idp|&lt;b&gt;bob&lt;/b&gt;',
    '− view User https://idp|ann',
  ])
    expect(shown).toContain(text);
});

test('an audit entry links neither to a deleted agent nor, in a console without pages of agents, to any agent', async () => {
  const without = { ...page, has: { ...page.has, agents: false } };
  for (const shown of [await pageOf({ action: 'agent.delete' }), await pageOf({}, without)]) {
    expect(shown).toContain(`agent ${agentId}`);
    expect(shown).not.toContain('href="/agents/');
  }
});

test('an audit entry that names ten of fifteen rights contains the number of the other rights', async () => {
  const rights = (name: string) => Array.from({ length: 10 }, (_, at) => `view Group acme/${name}-${at}`);
  const access = {
    before: { count: 20, digest },
    after: { count: 20, digest },
    granted: rights('new'),
    revoked: rights('old'),
  };
  const shown = await pageOf({ action: 'agent.access', access: { ...access, grantedCount: 15, revokedCount: 12 } });
  expect(shown).toContain('+ and 5 more');
  expect(shown).toContain('− and 2 more');
  for (const counts of [{}, { grantedCount: 10, revokedCount: 10 }])
    expect(await pageOf({ action: 'agent.access', access: { ...access, ...counts } })).not.toContain('more');
});

test('an audit entry about settings of a model names the changed members', async () => {
  const settings = { before: digest, after: digest, changed: ['judge' as const, 'streaming' as const] };
  expect(await pageOf({ action: 'binding.update', settings })).toContain('Settings: judge, streaming');
});
