import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { v7 as uuid } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DryRunResult } from '#contracts/dry-run';
import { currentProfile } from '#contracts/profiles';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import type { PolicyTest } from '#resources/guardrail-policy';
import { idLabel, kinds } from '#resources/kinds';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { askingDefinitionOf, definitionOf, policyObject } from '../../operator/testing/objects.ts';
import { type ManagementWorld, openManagementWorld } from './open-management-world.ts';
import { issuer } from './start-management.ts';

const dry = '/api/v1/dry-runs';
const costly = {
  id: 'heavy',
  kind: 'regex',
  timeoutMs: 100,
  action: { type: 'deny' },
  regex: { engine: 're2-1.1.20251105', pattern: '(a|b).{0,1000}(c|d)', caseSensitive: true },
} as const;

describe.skipIf(missingPostgres !== undefined)(onPostgres('dry runs of the management API'), () => {
  let world: ManagementWorld;
  const folder = temporaryFolder();

  beforeAll(async () => {
    writeFileSync(join(folder.path, 'spam-key'), 'a-credential');
    world = await openManagementWorld({ environment: { PORTCULLIS_SECRETS_DIR: folder.path } });
    const file = join(world.environmentDirectory, 'providers.yaml');
    writeFileSync(
      file,
      [
        'providers:',
        '  - { name: spam, kind: detector, endpoint: "http://127.0.0.1:9/scan", credential: spam-key }',
        '  - { name: echo, kind: model, endpoint: "http://127.0.0.1:9/v1", enabled: true }',
      ].join('\n'),
    );
    await world.api.replicas[0]?.end();
    await world.api.startReplica(0);
  });
  afterAll(async () => {
    await world[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
  });

  const post = (path: string, body: unknown, token?: string) =>
    world.api.call(`${dry}${path}`, { method: 'POST', body, ...(token === undefined ? {} : { token }) });
  const states = ({ checks }: DryRunResult) => checks.map(({ state }) => state);

  test('a dry run of a save reports compile, cost and the providers of rules, and stores nothing', async () => {
    const before = await world.objects();
    const create = async (definition: unknown) =>
      (await post('/guardrail-policies', { name: 'dry', definition })).json as DryRunResult;
    const good = await create(definitionOf('dry'));
    expect(good).toMatchObject({ wouldApply: true, error: null, warnings: [] });
    expect(states(good)).toEqual(['passed', 'passed', 'passed', 'passed', 'not_needed']);
    const { request, response, providers } = definitionOf('dry');
    const heavy = await create({ request: { ...request, baseline: [costly] }, response, providers });
    expect(heavy.error).toMatchObject({
      code: 'rule_too_costly',
      cause: expect.stringMatching(/rule heavy: its time .* may be above/),
    });
    expect(states(heavy)).toEqual(['passed', 'passed', 'failed', 'not_run', 'not_needed']);
    const broken = { ...costly, regex: { ...costly.regex, pattern: '(' } };
    const invalid = await create({ request: { ...request, baseline: [broken] }, response, providers });
    expect(states(invalid)).toEqual(['passed', 'failed', 'not_run', 'not_run', 'not_needed']);
    const asking = await create(askingDefinitionOf('dry'));
    expect(asking.wouldApply).toBe(false);
    expect(asking.error).toMatchObject({
      code: 'provider_unavailable',
      cause: expect.stringContaining('The provider spam of the rule asks does not answer: '),
    });
    expect(states(asking)).toEqual(['passed', 'passed', 'passed', 'failed', 'not_needed']);
    const unknown = askingDefinitionOf('dry');
    const other = await create({ ...unknown, providers: [{ name: 'spam', credentialRef: { name: 'another' } }] });
    expect(other.error?.code).toBe('provider_unknown');
    expect(states(other)).toEqual(['failed', 'not_run', 'not_run', 'not_run', 'not_needed']);
    expect(await world.objects()).toEqual(before);
  });

  test('a dry run of an application runs the tests of the version and needs the provider of the model', async () => {
    const tests: PolicyTest[] = [
      { name: 'says-word', stage: 'request', messages: [{ role: 'user', content: 'portal' }], expect: 'Pass' },
    ];
    const id = uuid();
    const object = policyObject('untrue', { tests });
    await world.client.create(kinds.guardrailPolicy, {
      ...object,
      metadata: { name: 'untrue', labels: { [idLabel]: id } },
    });
    await until('the version is recorded', async () => (await world.readPolicy(id)).policy.revision === 1);
    const model = await world.createModel('dry-model');
    const before = await world.objects();
    const apply = (policyId: string, change: object = {}, on = model) =>
      post(`/models/${on}/guardrail-binding`, {
        policyId,
        policyRevision: 1,
        contentProfile: currentProfile,
        ...change,
      });
    const failing = (await apply(id)).json as DryRunResult;
    expect(failing.error).toMatchObject({
      code: 'policy_tests_failed',
      cause: 'The policy test says-word expects Pass at the request stage and got Reject.',
    });
    expect(states(failing)).toEqual(['passed', 'passed', 'passed', 'passed', 'failed']);
    const profile = (await apply(id, { contentProfile: 'unknown' })).json as DryRunResult;
    expect(profile.error?.code).toBe('profile_unsupported');
    expect([(await apply(id, { policyRevision: 2 })).json.error.code, (await apply(uuid())).json.error.code]).toEqual([
      'policy_revision_unknown',
      'policy_revision_unknown',
    ]);
    expect((await apply(id, {}, uuid())).json.error.code).toBe('model_not_found');
    expect((await apply(id, { policyId: null })).status).toBe(422);
    expect(await world.objects()).toEqual(before);
    const away = await world.createModel('dry-away', {
      model: { alias: 'dry-away', provider: 'nowhere', upstreamModel: 'x', state: 'Enabled' },
    });
    const lost = (await apply(id, {}, away)).json as DryRunResult;
    expect(lost.error).toMatchObject({ code: 'provider_unknown', cause: expect.stringContaining('nowhere') });
  });

  test('a dry run needs the right of its command, and no other right', async () => {
    const { id } = await world.createPolicy('dry-rights');
    const model = await world.createModel('dry-rights');
    const { policy } = await world.readPolicy(id);
    const { name, description, status, definition } = policy;
    const runs = [
      ['/guardrail-policies', { name: 'dry', definition }],
      [`/guardrail-policies/${id}`, { name, description, status, definition }],
      [`/models/${model}/guardrail-binding`, { policyId: id, policyRevision: 1, contentProfile: currentProfile }],
    ] as const;
    const allowed = async (right: object) => {
      const token = await world.api.mint({ subject: 'dry-runner' });
      const body = { ...right, holder: { issuer, subject: 'dry-runner' } };
      await world.api.call('/api/v1/rights/grant', { method: 'POST', body });
      const answers = [];
      for (const [path, sent] of runs) answers.push((await post(path, sent, token)).status);
      await world.api.call('/api/v1/rights/revoke', { method: 'POST', body });
      return answers;
    };
    expect(await allowed({ role: 'viewer' })).toEqual([403, 403, 403]);
    expect(await allowed({ role: 'author' })).toEqual([200, 200, 403]);
    expect(await allowed({ role: 'author', policyId: id })).toEqual([403, 200, 403]);
    expect(await allowed({ role: 'applier', modelId: model })).toEqual([403, 403, 200]);
  });

  test('a dry run names the freeze window and the missing approval like the command, and requests no approval', async () => {
    const { id } = await world.createPolicy('dry-refused');
    const model = await world.createModel('dry-refused');
    const token = await world.api.mint({ subject: 'dry-asker' });
    const approver = await world.api.mint({ subject: 'dry-approver' });
    for (const subject of ['dry-asker', 'dry-approver']) {
      for (const role of ['author', 'applier']) {
        await world.api.call('/api/v1/rights/grant', { method: 'POST', body: { role, holder: { issuer, subject } } });
      }
    }
    const apply = { policyId: id, policyRevision: 1, contentProfile: currentProfile };
    const { policy, etag } = await world.readPolicy(id);
    const { name, description, definition } = policy;
    const archive = { name, description, definition, status: 'archived' };
    const dryApply = (headers: Record<string, string> = {}, by: { readonly token?: string } = { token }) =>
      world.api.call(`${dry}/models/${model}/guardrail-binding`, {
        method: 'POST',
        body: apply,
        headers,
        ...by,
      });
    const unbind = { ...apply, policyId: null, policyRevision: null };
    const dryUnbind = (headers: Record<string, string> = {}, by: { readonly token?: string } = { token }) =>
      world.api.call(`${dry}/models/${model}/guardrail-binding`, { method: 'POST', body: unbind, headers, ...by });
    const dryArchive = () => post(`/guardrail-policies/${id}`, archive, token);
    expect([(await dryApply()).json.refusals, (await dryApply()).json.wouldApply]).toEqual([[], true]);

    await world.api.call('/api/v1/approval-rules/require', { method: 'POST', body: { policyId: id } });
    const unasked = (await dryApply()).json;
    expect(unasked).toMatchObject({ wouldApply: false, error: null });
    expect(unasked.refusals).toMatchObject([{ code: 'approval_required', details: [{ path: '/approvals' }] }]);
    // The model does not have the policy yet, so that the rule of the policy does not concern its unbind.
    expect((await dryUnbind()).json).toEqual({ wouldApply: true, error: null, checks: [], refusals: [], warnings: [] });
    await world.api.call('/api/v1/approval-rules/require', { method: 'POST', body: { modelId: model } });
    expect((await dryUnbind()).json).toMatchObject({
      wouldApply: false,
      refusals: [{ code: 'approval_required', details: [{ path: '/approvals' }] }],
    });
    await world.api.call('/api/v1/approval-rules/release', { method: 'POST', body: { modelId: model } });
    expect((await world.api.call('/api/v1/approvals')).json.items).toEqual([]);

    const command = async (headers: Record<string, string> = {}) =>
      world.api.command('PUT', `/api/v1/models/${model}/guardrail-binding`, apply, {
        etag: String((await world.readBinding(model)).headers['etag']),
        token,
        headers,
      });
    const wordsOf = ({ json }: { json: { error: { code: string; message: string; details: unknown } } }) => {
      const { code, message, details } = json.error;
      return { code, message, details };
    };
    const refused = wordsOf(await command());
    expect((await dryApply()).json.refusals).toEqual([refused]);
    const archived = wordsOf(
      await world.api.command('PUT', `/api/v1/guardrail-policies/${id}`, archive, { etag, token }),
    );
    expect((await dryArchive()).json.refusals).toEqual([archived]);
    const save = await post(`/guardrail-policies/${id}`, { name, description, definition, status: 'draft' }, token);
    expect(save.json.refusals).toEqual([]);

    const endsAt = new Date(Date.now() + 3_600_000).toISOString();
    await world.api.call('/api/v1/freezes', { method: 'POST', body: { modelId: model, endsAt } });
    const frozen = wordsOf(await command());
    expect(frozen.code).toBe('change_frozen');
    expect((await dryApply()).json.refusals).toEqual([frozen, refused]);
    const override = { 'x-portcullis-override-freeze': 'true' };
    expect((await dryApply(override)).status).toBe(403);
    expect((await dryUnbind()).json).toMatchObject({ wouldApply: false, refusals: [frozen] });
    expect((await dryUnbind(override)).status).toBe(403);
    expect((await dryUnbind(override, {})).json).toMatchObject({ wouldApply: true, refusals: [] });
    expect((await dryApply(override, {})).json.refusals.map(({ code }: { code: string }) => code)).toEqual([
      'approval_required',
    ]);

    const [{ path }] = refused.details as [{ path: string }];
    await world.api.call(`/api/v1${path}/approve`, { method: 'POST', token: approver });
    expect((await dryApply()).json.refusals).toEqual([frozen]);
    expect((await dryApply()).json.refusals).toEqual([frozen]);
    const held = { role: 'applier', holder: { issuer, subject: 'dry-approver' } };
    await world.api.call('/api/v1/rights/revoke', { method: 'POST', body: held });
    expect((await dryApply()).json.refusals).toMatchObject([frozen, { code: 'approval_required' }]);
  });

  test('two versions of a policy are compared; without numbers the newest is compared with the previous one', async () => {
    const { id } = await world.createPolicy('compared');
    await world.savePolicy(id, { description: 'second' });
    await world.savePolicy(id, { description: 'second', definition: definitionOf('third') });
    const diff = (query = '') => world.api.call(`/api/v1/policy-diffs/${id}${query}`);
    const newest = await until('the newest version is known', async () => {
      const { json } = await diff();
      return json.to === 3 ? json : undefined;
    });
    expect(newest).toMatchObject({ policyId: id, from: 2, to: 3, isSame: false });
    expect(newest.diff).toMatch(/^--- compared revision 2\t.*\n\+\+\+ compared revision 3\t/);
    expect(newest.diff).toMatch(/^\+ +- third$/m);
    const first = (await diff('?from=1&to=2')).json;
    expect(first.diff).toMatch(/^-description: ""\n\+description: second$/m);
    expect((await diff('?from=2&to=2')).json).toMatchObject({ isSame: true, diff: '' });
    expect([(await diff('?from=1&to=4')).json.error.code, (await diff('?to=1')).json.error.code]).toEqual([
      'revision_not_found',
      'revision_not_found',
    ]);
    expect((await diff('?from=0')).status).toBe(400);
    expect((await world.api.call(`/api/v1/policy-diffs/${uuid()}`)).json.error.code).toBe('policy_not_found');
  });
});
