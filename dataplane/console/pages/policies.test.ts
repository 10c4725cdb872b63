import { expect, test } from 'vitest';
import type { PolicySummary } from '#contracts/management';
import type { OverviewModel } from '#contracts/overview';
import type { OwnRights } from '#contracts/rights';
import { noRights } from '../clients/management-api.ts';
import { en } from '../words/en.ts';
import type { PageContext } from './page.ts';
import { policiesPage, policyPage } from './policies.ts';

const id = '01890a5d-ac96-774b-bcce-b302099a8057';
const modelId = '01890a5d-ac96-774b-bcce-b302099a8058';
const model = { modelId, alias: 'chat', policyId: null, wanted: null, previous: null } as OverviewModel;
const previous = { policyId: modelId, policy: 'Other', revision: 7 };
const changed = { ...model, policyId: id, wanted: { policy: 'Chat', revision: 8 }, previous };
const rights = { ...noRights, view: true, author: true, apply: true, administer: true };
const context = { words: en, language: 'en', session: { csrf: '', rights } } as unknown as PageContext;
const policy = {
  ...{ id, name: 'Chat', description: '', status: 'draft', revision: 1, ruleCount: 1, ruleKinds: ['stop_list'] },
  ...{ createdAt: '2026-01-01T00:00:00Z', updatedAt: '2026-01-01T00:00:00Z', definitionDigest: 'a'.repeat(64) },
} as PolicySummary;
const links = { first: undefined, next: undefined };
const text = async (main: unknown): Promise<string> => String(await main);

test('a policy under deletion is marked in the list, and its page offers neither an editor nor an application', async () => {
  const surroundings = { models: [model], deletingPolicies: [id], isStateKnown: true, rights, links };
  const list = await text(policiesPage(context, [policy], surroundings, links).main);
  expect(list).toMatch(/class="badge warn">.*Deleting/);
  const page = await text(policyPage(context, policy, [policy], surroundings).main);
  expect(page).toContain('This policy is being deleted.');
  expect(page).not.toContain(`/policies/${id}/apply`);
  expect(page).not.toContain(`/policies/${id}/edit`);
  expect(page).toContain('id="history"');
});

const shown = async (held: OwnRights) => {
  const surroundings = { models: [model], deletingPolicies: [], isStateKnown: true, rights: held, links };
  const page = await text(policyPage(context, policy, [policy], surroundings).main);
  const offered = {
    edit: page.includes(`/policies/${id}/edit`),
    apply: page.includes(`action="/policies/${id}/apply"`) && page.includes(`<option value="${modelId}"`),
    playground: page.includes(`href="/playground?policy=${id}`),
    tests: page.includes(`/policies/${id}/tests`),
  };
  return Object.entries(offered).flatMap(([name, isOffered]) => (isOffered ? [name] : []));
};

test.each<[string, Partial<OwnRights>, readonly string[]]>([
  ['every role', rights, ['edit', 'apply', 'playground', 'tests']],
  ['the role viewer', {}, []],
  ['the role author', { author: true }, ['edit', 'playground', 'tests']],
  ['the role author for this policy', { policies: [id] }, ['edit', 'playground', 'tests']],
  ['only the role author for this policy', { view: false, policies: [id] }, ['edit', 'playground']],
  ['the role author for another policy', { policies: [modelId] }, ['playground', 'tests']],
  ['the role applier', { apply: true }, ['apply']],
  ['the role applier for this model', { models: [modelId] }, ['apply']],
  ['the role applier for another model', { models: [id] }, []],
])('the page of a policy offers a person with %s what the API allows, and nothing else', async (_, held, offered) => {
  expect(await shown({ ...noRights, view: true, ...held })).toEqual(offered);
});

test('the page of a policy offers the previous revision of each model where the person may apply it', async () => {
  const back = async (held: OwnRights, models: readonly OverviewModel[]) => {
    const surroundings = { models: [...models], deletingPolicies: [], isStateKnown: true, rights: held, links };
    return (await text(policyPage(context, policy, [policy], surroundings).main)).match(/Roll chat back to [^<]*/)?.[0];
  };
  expect(await back(rights, [changed])).toBe('Roll chat back to revision 7 of Other');
  expect(await back(rights, [{ ...changed, previous: null }])).toBeUndefined();
  expect(await back(rights, [{ ...changed, policyId: null }])).toBeUndefined();
  expect(await back({ ...noRights, view: true }, [changed])).toBeUndefined();
  const surroundings = { models: [changed], deletingPolicies: [], isStateKnown: true, rights, links };
  const page = await text(policyPage(context, policy, [policy], surroundings).main);
  expect(page).toContain(`action="/policies/${modelId}/apply"`);
  // Both forms send the version that the page shows.
  expect(page.match(new RegExp(`name="shown.${modelId}" value="${id}:8"`, 'g'))).toHaveLength(2);
});

test('the page of an archived policy offers no application of it, but a return to another policy', async () => {
  const archived = { ...policy, status: 'archived' } as PolicySummary;
  const page = async (models: readonly OverviewModel[]) => {
    const surroundings = { models: [...models], deletingPolicies: [], isStateKnown: true, rights, links };
    return text(policyPage(context, archived, [archived], surroundings).main);
  };
  expect(await page([model])).toContain('portcullis unarchive');
  expect(await page([model])).not.toContain('/apply"');
  expect(await page([changed])).toContain('Roll chat back to revision 7 of Other');
  const own = { ...changed, previous: { policyId: id, policy: 'Chat', revision: 3 } };
  expect(await page([own])).not.toContain('/apply"');
});

test('the page of a policy offers no application to a model under deletion, and preselects no model if there are several', async () => {
  const page = async (models: readonly OverviewModel[]) => {
    const surroundings = { models: [...models], deletingPolicies: [], isStateKnown: true, rights, links };
    return text(policyPage(context, policy, [policy], surroundings).main);
  };
  const deleting = { ...model, modelId: id, alias: 'old', state: 'deleting' } as OverviewModel;
  expect(await page([deleting])).not.toContain('/apply"');
  const one = await page([model, deleting]);
  expect(one).not.toContain('>old</option>');
  expect(one).not.toContain('<option value="">');
  expect(await page([model, { ...model, modelId: id, alias: 'other' }])).toContain(
    'required><option value="">Choose a model',
  );
});
