import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AuditEntry } from '#contracts/audit';
import { createAuditVerifier } from '#contracts/verify-audit';
import { until } from '#kit/testing/until';
import { sampleAgent } from '#kube/testing/sample-agents';
import type { Agent } from '#resources/agent';
import { changeNoteAnnotation, writeChangeNote } from '#resources/change-note';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { confirmUnguardedAnnotation, kinds } from '#resources/kinds';
import { confirmationOf } from '#resources/protection';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { agentIdOf } from '../../operator/agents/agent-bundle.ts';
import { definitionOf, policyObject } from '../../operator/testing/objects.ts';
import { policyNameOf } from './actions.ts';
import { leaveCommand, unbindOf } from './leave-command.ts';
import { type ManagementWorld, openManagementWorld } from './open-management-world.ts';
import { issuer } from './start-management.ts';

describe.skipIf(missingPostgres !== undefined)(onPostgres('the audit log of the management API'), () => {
  let world: ManagementWorld;

  beforeAll(async () => {
    world = await openManagementWorld({ replicas: 2 });
  });
  afterAll(() => world[Symbol.asyncDispose]());

  const listed = async (query: string): Promise<readonly AuditEntry[]> => {
    const answer = await world.api.call(`/api/v1/audit?${query}`);
    expect([query, answer.status]).toEqual([query, 200]);
    return answer.json.items;
  };
  const administrator = { kind: 'token', issuer, subject: 'root-admin', actors: [] };

  test('an accepted command has one audit entry with author, target, revision and digests, and one for its end', async () => {
    const { id } = await world.createPolicy('audited');
    const modelId = await world.createModel('audited-model');
    const applied = await world.applied(modelId, id, 1);
    const { operationId } = applied.json;
    await until(
      'the end of the application is recorded',
      async () => (await listed(`operationId=${operationId}`)).length > 1,
    );
    const [ended, accepted] = await listed(`operationId=${operationId}`);
    expect(accepted?.content).toMatchObject({
      action: 'binding.apply',
      outcome: 'accepted',
      code: null,
      author: administrator,
      client: 'loopback',
      target: { type: 'model', id: modelId },
      before: null,
      after: { policyId: id, revision: 1, digest: null },
    });
    expect(ended?.content).toMatchObject({
      outcome: 'succeeded',
      after: { policyId: id, revision: 1, digest: expect.stringMatching(/^[0-9a-f]{64}$/) },
    });
    const policy = await listed(`targetId=${id}&order=oldest`);
    expect(policy.map(({ content }) => [content.action, content.outcome])).toEqual([
      ['policy.create', 'accepted'],
      ['policy.create', 'succeeded'],
    ]);
    const { definitionDigest } = (await world.api.call(`/api/v1/guardrail-policies/${id}`)).json;
    expect(policy[1]?.content.after).toEqual({ policyId: id, revision: 1, digest: definitionDigest });
  });

  test('a repetition with the same idempotency key adds no audit entry', async () => {
    const body = { name: 'repeated-audit', definition: definitionOf('repeated-audit') };
    const key = 'audit-repeated-key-1';
    const first = await world.api.command('POST', '/api/v1/guardrail-policies', body, { key });
    await world.api.ended(first);
    await world.api.command('POST', '/api/v1/guardrail-policies', body, { key, replica: 1 });
    const entries = await listed(`operationId=${first.json.operationId}`);
    expect(entries.map(({ content }) => content.outcome)).toEqual(['succeeded', 'accepted']);
  });

  test('a refused command has an audit entry with its code and author; the entry of a subject without the right names that subject', async () => {
    const { id } = await world.createPolicy('refused-audit');
    const path = `/api/v1/guardrail-policies/${id}`;
    const body = { name: 'refused-audit', status: 'draft', definition: definitionOf('refused-audit') };
    const stale = await world.api.command('PUT', path, body, { etag: '"old"' });
    expect(stale.status).toBe(412);
    const token = await world.api.mint({
      subject: 'nobody-in-particular',
      actors: [{ issuer, subject: 'assistant' }],
    });
    expect((await world.api.command('PUT', path, body, { etag: '"old"', token })).status).toBe(403);
    expect((await world.api.call(path, { token })).status).toBe(403);
    const [read, denied, refused] = await listed('outcome=refused&limit=3');
    expect(refused?.content).toMatchObject({
      action: 'policy.update',
      code: 'etag_mismatch',
      author: administrator,
      target: { type: 'policy', id },
      operationId: null,
      count: 1,
    });
    const author = {
      kind: 'token',
      issuer,
      subject: 'nobody-in-particular',
      actors: [{ issuer, subject: 'assistant' }],
    };
    expect(denied?.content).toMatchObject({ action: 'policy.update', code: 'permission_denied', author });
    expect(read?.content).toMatchObject({ action: 'read', code: 'permission_denied', author, target: { id } });
  });

  test('a refused change of rights, rules, approvals and windows names its target, if the target has a valid form', async () => {
    const { id } = await world.createPolicy('refused-targets');
    const token = await world.api.mint({ subject: 'climber' });
    const post = async (path: string, body: unknown) =>
      (await world.api.call(`/api/v1/${path}`, { method: 'POST', body, token })).status;
    const holder = { issuer, subject: 'climber' };
    const other = '01990000-0000-7000-8000-000000000001';
    expect(await post('rights/grant', { role: 'administrator', holder })).toBe(403);
    expect(await post('rights/revoke', { role: 'king', holder })).toBe(403);
    expect(await post('approval-rules/release', { policyId: id })).toBe(403);
    expect(await post('freezes', { modelId: other, endsAt: new Date(Date.now() + 3_600_000).toISOString() })).toBe(403);
    expect(await post(`approvals/${other}/approve`, undefined)).toBeGreaterThan(402);
    expect(await post(`freezes/${other}/remove`, undefined)).toBe(403);
    const targets = (await listed('outcome=refused&subject=climber&order=oldest')).map(({ content }) => content.target);
    expect(targets).toEqual([
      { type: 'control_plane', id: expect.stringMatching(/^control_plane:.+#administer@user:.+climber$/) },
      null,
      { type: 'policy', id },
      { type: 'model', id: other },
      { type: 'approval', id: other },
      { type: 'freeze', id: other },
    ]);
  });

  test('a policy that was created and deleted over the resources is recorded once, with its stated author or unknown', async () => {
    const object = policyObject('by-kubectl');
    const note = writeChangeNote('', { author: 'kubectl-create (field manager)' });
    const policy = await world.client.create<GuardrailPolicy>(kinds.guardrailPolicy, {
      ...object,
      metadata: { ...object.metadata, annotations: { [changeNoteAnnotation]: note } },
    });
    const about = async () => {
      const live = await world.client.get<GuardrailPolicy>(kinds.guardrailPolicy, 'by-kubectl');
      return String(live?.metadata.labels?.['portcullis.dev/id'] ?? '');
    };
    await until('the policy has an id', async () => (await about()) !== '');
    const id = await about();
    const observed = () => listed(`targetId=${id}&order=oldest`);
    await until('its revision is recorded', async () => (await observed()).length > 0);
    expect((await observed())[0]?.content).toMatchObject({
      action: 'policy.record',
      outcome: 'observed',
      before: null,
      after: { policyId: id, revision: 1, digest: expect.stringMatching(/^[0-9a-f]{64}$/) },
      author: { kind: 'claimed', name: 'kubectl-create (field manager)' },
    });
    await world.client.delete(kinds.guardrailPolicy, policy.metadata.name, { uid: policy.metadata.uid });
    await until('its deletion is recorded', async () => (await observed()).length > 1);
    expect((await observed()).map(({ content }) => [content.action, content.author.kind]).at(-1)).toEqual([
      'policy.delete',
      'unknown',
    ]);
    const again = await world.client.create<GuardrailPolicy>(kinds.guardrailPolicy, object);
    await until('its return is recorded', async () => (await observed()).length > 2);
    await world.client.delete(kinds.guardrailPolicy, 'by-kubectl', { uid: again.metadata.uid });
    await until('its second deletion is recorded', async () => (await observed()).length > 3);
    const states = (await observed()).map(({ content }) => [content.action, content.after?.revision]);
    expect(states.slice(2)).toEqual([
      ['policy.record', 1],
      ['policy.delete', undefined],
    ]);
    const own = await world.createPolicy('by-api');
    const entries = await listed(`targetId=${own.id}`);
    expect(entries.map(({ content }) => content.outcome)).toEqual(['succeeded', 'accepted']);
    const twice = await listed('outcome=observed');
    expect(twice.filter(({ content }) => content.target?.id === id)).toHaveLength(4);
  });

  test('a model that was deleted over the resources is recorded once, by an unknown author', async () => {
    const model = await world.createModel('deleted-by-kubectl');
    const observed = () => listed(`targetId=${model}&action=binding.delete`);
    await until('the model is remembered', async () => {
      const { sql } = world.api.database.database;
      return (await sql`select from audit.sources where source like ${`model/${model}/%`}`).length > 0;
    });
    const { uid } = (await world.binding('deleted-by-kubectl')).metadata;
    await world.client.delete(kinds.modelBinding, 'deleted-by-kubectl', { uid });
    await until('its deletion is recorded', async () => (await observed()).length > 0);
    expect((await observed()).map(({ content }) => [content.outcome, content.author.kind])).toEqual([
      ['observed', 'unknown'],
    ]);
  });

  test('a switch of an Agent, a change of its rights and its deletion are recorded once each, by two replicas', async () => {
    await world.client.create<Agent>(kinds.agent, sampleAgent('switched', 'switched-1'));
    const agentId = agentIdOf(world.client.namespace, 'switched');
    const observed = async () => (await listed(`targetId=${agentId}&order=oldest`)).map(({ content }) => content);
    const change = (path: string, value: unknown) =>
      world.client.patch(kinds.agent, 'switched', [{ op: 'replace', path, value }]);
    await until('the new agent is recorded', async () => (await observed()).length === 2);
    await change('/spec/version', 'switched-2');
    await until('the switch is recorded', async () => (await observed()).length === 3);
    await change('/spec/access/invoke', []);
    await until('the rights are recorded', async () => (await observed()).length === 4);
    const { metadata } = (await world.client.get<Agent>(kinds.agent, 'switched')) ?? {};
    await world.client.delete(kinds.agent, 'switched', { uid: metadata?.uid ?? '' });
    await until('the deletion is recorded', async () => (await observed()).length === 5);
    // A later change covers a look of each replica.
    await world.client.create<Agent>(kinds.agent, sampleAgent('switched', 'switched-3'));
    await until('the agent of the same name is recorded', async () => (await observed()).length === 7);
    const entries = await observed();
    expect(entries.map(({ action, outcome }) => [action, outcome])).toEqual(
      ['serve', 'access', 'serve', 'access', 'delete', 'serve', 'access'].map((one) => [`agent.${one}`, 'observed']),
    );
    expect(entries[2]?.serving).toEqual({
      before: { version: 'switched-1', canary: null },
      after: { version: 'switched-2', canary: null },
    });
    expect(entries[3]?.access).toMatchObject({
      granted: [],
      revoked: ['invoke User https://login.example.com|ann'],
    });
  });

  test('an application by a patch of the binding is recorded once as observed, and one by the API is not', async () => {
    const { id } = await world.createPolicy('patched');
    await world.savePolicy(id);
    const model = await world.createModel('patched');
    const other = await world.createModel('patched-later');
    const observed = async (target: string) => {
      const entries = await listed(`targetId=${target}&outcome=observed&action=binding.apply`);
      return entries.map(({ content: { author, before, after } }) => [author.kind, before?.revision, after]);
    };
    const patch = async (name: string, revision: number) => {
      const policyRef = { name: await policyNameOf(world.client, id), revision };
      const value = { mode: 'Policy', policyRef };
      await world.client.patch(kinds.modelBinding, name, [{ op: 'replace', path: '/spec/guardrail', value }]);
    };
    const digest = expect.stringMatching(/^[0-9a-f]{64}$/);
    const patchedFrom = (revision?: number) => [['unknown', revision, { policyId: id, revision: 2, digest }]];
    await world.applied(model, id, 1);
    await patch('patched', 2);
    await until('the patch is recorded', async () => (await observed(model)).length > 0);
    await world.applied(model, id, 1);
    await patch('patched-later', 2);
    // One observation of the resources covers all bindings: it has also seen the last application of the first binding.
    await until('the later patch is recorded', async () => (await observed(other)).length > 0);
    expect([await observed(model), await observed(other)]).toEqual([patchedFrom(1), patchedFrom()]);
  });

  test('a guardrail that is removed by a patch with the token of an earlier command gets an audit entry, if the unbind was refused or the resources no longer have it', async () => {
    const { id } = await world.createPolicy('token-of-another');
    const model = await world.createModel('token-of-another');
    await world.untilState(model, 'unbound');
    const removals = async () =>
      (await listed(`targetId=${model}&outcome=observed&action=binding.unbind`)).map(({ content }) => content.author);
    await until('the creation is recorded', async () => (await removals()).length === 1);
    await world.applied(model, id, 1);
    const unbindBy = async (token: string) => {
      const binding = await world.binding('token-of-another');
      const annotations = {
        ...binding.metadata.annotations,
        [confirmUnguardedAnnotation]: confirmationOf(binding.metadata),
      };
      await world.client.patch(kinds.modelBinding, 'token-of-another', [
        { op: 'add', path: '/metadata/annotations', value: annotations },
        { op: 'replace', path: '/spec/guardrail', value: { mode: 'None' } },
        { op: 'add', path: '/spec/apply', value: token },
      ]);
      await world.untilState(model, 'unbound');
    };
    const refused = { ...unbindOf(await world.binding('token-of-another')), ageMinutes: 2 };
    await leaveCommand(world.api, refused);
    expect(await world.api.endOf(refused.operationId)).toMatchObject({ error: { code: 'not_executed' } });
    await unbindBy(refused.operationId);
    await until(
      'the patch with the token of a refused unbind is recorded',
      async () => (await removals()).length === 2,
    );
    const unbound = await world.api.ended(await world.apply(model, null, null));
    for (let count = 0; count < 5; count++) await world.applied(model, id, 1);
    await unbindBy(unbound.operationId);
    await until('the patch with the token of an old unbind is recorded', async () => (await removals()).length === 3);
    expect((await removals()).map(({ kind }) => kind)).toEqual(['unknown', 'unknown', 'unknown']);
  });

  test('reads of the audit log need the permission, and its parameters are validated', async () => {
    const of = async (query: string, token?: string | null) =>
      (await world.api.call(`/api/v1/audit${query}`, token === undefined ? {} : { token })).status;
    expect(await of('', null)).toBe(401);
    expect(await of('', await world.api.mint({ subject: 'somebody' }))).toBe(403);
    for (const query of ['?limit=1', '?limit=500', '?since=2026-01-01T00:00:00Z', '?targetId=%01', '?subject=%20']) {
      expect([query, await of(query)]).toEqual([query, 200]);
    }
    for (const query of [
      '?limit=0',
      '?limit=501',
      '?since=yesterday',
      '?action=other',
      '?cursor=x',
      '?unknown=1',
      '?targetId=%00',
    ]) {
      expect([query, await of(query)]).toEqual([query, 400]);
    }
    expect((await world.api.call('/api/v1/audit/chains', { token: null })).status).toBe(401);
    expect((await world.api.call('/api/v1/operations?subject=a%00')).status).toBe(400);
  });

  test('pages of the audit log from both replicas are one chain that a client proves', async () => {
    for (const name of ['chain-a', 'chain-b', 'chain-c']) await world.createPolicy(name);
    const chains = (await world.api.call('/api/v1/audit/chains')).json.items;
    const verifier = createAuditVerifier(chains);
    let count = 0;
    for (let cursor: string | null = '', replica = 0; cursor !== null; replica = 1 - replica) {
      const next: string = cursor === '' ? '' : `&cursor=${cursor}`;
      const page = await world.api.call(`/api/v1/audit?order=oldest&limit=2${next}`, { replica });
      for (const entry of page.json.items) verifier.add(entry);
      count += page.json.items.length;
      cursor = page.json.nextCursor;
    }
    expect(count).toBeGreaterThan(6);
    expect(verifier.end()).toEqual([]);
    const newest = await world.api.call('/api/v1/audit?limit=1');
    expect((await world.api.call(`/api/v1/audit?order=oldest&cursor=${newest.json.nextCursor}`)).status).toBe(400);
  });
});
