import { expect, test } from 'vitest';
import type { PolicySummary } from '#contracts/management';
import { en } from '../words/en.ts';
import type { PageContext } from './page.ts';
import { policiesPage, policyPage } from './policies.ts';

const id = '01890a5d-ac96-774b-bcce-b302099a8057';
const context = { words: en, language: 'en', session: undefined } as unknown as PageContext;
const policy = {
  ...{ id, name: 'Chat', description: '', status: 'draft', revision: 1, ruleCount: 1, ruleKinds: ['stop_list'] },
  ...{ createdAt: '2026-01-01T00:00:00Z', updatedAt: '2026-01-01T00:00:00Z', definitionDigest: 'a'.repeat(64) },
} as PolicySummary;
const text = async (main: unknown): Promise<string> => String(await main);

test('a policy that is being deleted says so in the list, and its page offers neither its editor nor an application', async () => {
  const surroundings = { models: [], deletingPolicies: [id] };
  const list = await text(policiesPage(context, [policy], surroundings, null).main);
  expect(list).toMatch(/class="badge warn">.*Deleting/);
  const page = await text(policyPage(context, policy, [policy], surroundings).main);
  expect(page).toContain('This policy is being deleted.');
  expect(page).not.toContain(`/policies/${id}/apply`);
  expect(page).not.toContain(`/policies/${id}/edit`);
  expect(page).toContain('id="history"');
});

test('a policy that is not being deleted can be edited and applied', async () => {
  const surroundings = { models: [], deletingPolicies: ['another'] };
  expect(await text(policiesPage(context, [policy], surroundings, null).main)).not.toContain('Deleting');
  const page = await text(policyPage(context, policy, [policy], surroundings).main);
  expect(page).toContain(`action="/policies/${id}/apply"`);
  expect(page).toContain(`/policies/${id}/edit`);
});
