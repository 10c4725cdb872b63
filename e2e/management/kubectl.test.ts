import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { AuditEntry } from '#contracts/audit';
import { currentProfile } from '#contracts/profiles';
import { until } from '#kit/testing/until';
import { sampleAgent } from '#kube/testing/sample-agents';
import { kubectlOk } from '../../hack/cluster/control-plane/kubectl.ts';
import { agentIdOf } from '../../operator/agents/agent-bundle.ts';
import { definitionOf } from '../../operator/testing/objects.ts';
import { missingApiServer, onApiServer } from '../kube/open-api-server.ts';
import { untilAnswered } from './call-api.ts';
import { managementRules } from './grant-management.ts';
import { type ClusterWorld, openClusterWorld } from './open-cluster-world.ts';
import { newKey } from './start-management.ts';

const list = '/api/v1/guardrail-policies';

describe.skipIf(missingApiServer !== undefined)(
  onApiServer("the resources are the only source of the API's answers"),
  () => {
    let world: ClusterWorld;

    beforeAll(async () => {
      world = await openClusterWorld({ replicas: 2 });
    });
    afterAll(() => world[Symbol.asyncDispose]());

    const kubectl = (args: readonly string[], input = ''): Promise<string> =>
      kubectlOk(world.kubeconfigFile, [`--namespace=${world.client.namespace}`, ...args], input);
    const object = async (kind: string, name: string) =>
      JSON.parse(await kubectl(['get', kind, name, '--output=json']));

    test('policies, revisions and bindings written by the API are shown by kubectl', async () => {
      const { id } = await world.createPolicy('written-by-the-api');
      await world.savePolicy(id, { description: 'the second version', status: 'archived' });
      const policy = await object('guardrailpolicy', 'written-by-the-api');
      expect(policy.metadata.labels['portcullis.dev/id']).toBe(id);
      expect(policy.spec).toMatchObject({
        displayName: 'written-by-the-api',
        description: 'the second version',
        lifecycle: 'Archived',
        definition: definitionOf('portal'),
      });
      for (const number of [1, 2]) {
        const revision = await object('policyrevision', `${id}-${number}`);
        const read = (await world.api.call(`${list}/${id}/revisions/${number}`)).json;
        expect(revision.spec).toMatchObject({ policyId: id, number, definitionDigest: read.definitionDigest });
      }
      await world.savePolicy(id, { status: 'draft' });
      const modelId = await world.createModel('written-by-the-api');
      const { json } = await world.applied(modelId, id, 3);
      const binding = await object('modelbinding', 'written-by-the-api');
      expect(binding.spec).toMatchObject({
        guardrail: { mode: 'Policy', policyRef: { name: 'written-by-the-api', revision: 3 } },
        contentProfile: currentProfile,
        apply: json.operationId,
      });
      expect(binding.metadata.generation).toBe(json.modelRevision);
    });

    test('resources written by kubectl are shown by the API, and its edits make earlier ETags stale', async () => {
      const spec = {
        displayName: 'written-by-kubectl',
        description: '',
        lifecycle: 'Draft',
        definition: definitionOf('kubectl'),
      };
      const policyOf = (change: object) =>
        JSON.stringify({
          apiVersion: 'portcullis.dev/v1alpha1',
          kind: 'GuardrailPolicy',
          metadata: { name: 'by-kubectl' },
          spec: { ...spec, ...change },
        });
      await kubectl(['apply', '--filename=-'], policyOf({}));
      const id: string = await until('the policy has its id', async () => {
        return (await object('guardrailpolicy', 'by-kubectl')).metadata.labels?.['portcullis.dev/id'];
      });
      const first = await world.readPolicy(id);
      expect(first.policy).toMatchObject({ id, name: 'written-by-kubectl', revision: 1, status: 'draft' });
      for (const replica of [0, 1]) {
        await until('every replica lists the policy', async () => {
          const { items } = (await world.api.call(`${list}?limit=50`, { replica })).json;
          return items.some((entry: { readonly id: string }) => entry.id === id);
        });
      }
      await kubectl(['apply', '--filename=-'], policyOf({ description: 'edited' }));
      const body = { name: 'stale', status: 'draft', definition: spec.definition };
      const stale = await world.api.command('PUT', `${list}/${id}`, body, { etag: first.etag });
      expect([stale.status, stale.json.error.code]).toEqual([412, 'etag_mismatch']);
      expect((await world.readPolicy(id)).policy).toMatchObject({ revision: 2, description: 'edited' });

      const modelId = await world.createModel('by-kubectl');
      const before = await world.readBinding(modelId);
      const guardrail = { mode: 'Policy', policyRef: { name: 'by-kubectl', revision: 2 } };
      const patch = JSON.stringify({ spec: { guardrail, apply: 'by-hand' } });
      await kubectl(['patch', 'modelbinding', 'by-kubectl', '--type=merge', `--patch=${patch}`]);
      const after = await world.untilState(modelId, 'applied');
      expect(after.json).toMatchObject({ operationId: null, binding: { policyId: id, policyRevision: 2 } });
      expect(after.headers['etag']).not.toBe(before.headers['etag']);
      await kubectl(['annotate', 'guardrailpolicy', 'by-kubectl', 'portcullis.dev/confirm-deletion=true']);
      await kubectl(['delete', 'guardrailpolicy', 'by-kubectl', '--wait=false']);
      await until('every replica knows of the deletion', async () => {
        const { metadata } = await object('guardrailpolicy', 'by-kubectl');
        return metadata.deletionTimestamp !== undefined;
      });
      const other = { policyId: id, policyRevision: 1, contentProfile: currentProfile };
      const refused = await world.api.command('PUT', `/api/v1/models/${modelId}/guardrail-binding`, other, {
        etag: String((await world.readBinding(modelId)).headers['etag']),
      });
      expect([refused.status, refused.json.error.code]).toEqual([409, 'policy_deleting']);
    });

    test('a PUT of a policy that is being deleted cancels the deletion and saves a revision', async () => {
      const { metadata } = await object('guardrailpolicy', 'by-kubectl');
      const id = String(metadata.labels?.['portcullis.dev/id']);
      const { etag, policy } = await world.readPolicy(id);
      const body = { name: 'kept', status: 'draft', definition: policy.definition };
      const saved = await world.api.command('PUT', `${list}/${id}`, body, { etag });
      const { result } = await world.api.ended(saved);
      expect(result).toMatchObject({ policyId: id, revision: policy.revision + 1 });
      const kept = await until('the policy exists again', async () => {
        const now = await object('guardrailpolicy', 'by-kubectl').catch(() => undefined);
        return now !== undefined && now.metadata.uid !== metadata.uid && now;
      });
      expect(kept.metadata.deletionTimestamp).toBeUndefined();
      expect(kept.metadata.labels?.['portcullis.dev/id']).toBe(id);
      const read = await until('the API reads it', () => world.readPolicy(id));
      expect(read.policy).toMatchObject({ name: 'kept', revision: policy.revision + 1 });
      const again = await until('it can be changed again', async () => {
        const { etag: newest } = await world.readPolicy(id);
        const answer = await world.api.command('PUT', `${list}/${id}`, { ...body, name: 'changed' }, { etag: newest });
        return answer.status === 202 && answer;
      });
      expect((await world.api.ended(again)).result).toMatchObject({ revision: policy.revision + 2 });
    });

    test('a switch of an Agent by kubectl is in the audit log with its field manager', async () => {
      await kubectl(['apply', '--filename=-'], JSON.stringify(sampleAgent('switched', 'switched-1')));
      const target = agentIdOf(world.client.namespace, 'switched');
      const switches = async () => {
        const { items } = (await world.api.call(`/api/v1/audit?targetId=${target}&action=agent.serve&order=oldest`))
          .json;
        return (items as readonly AuditEntry[]).map(({ content }) => [content.author, content.serving?.after?.version]);
      };
      await until('the new agent is recorded', async () => (await switches()).length === 1);
      // Times of field managers are whole seconds, and if a change is in the same second as another one, its author is
      // not certain.
      const { metadata } = await object('agent', 'switched');
      await until(
        'the second of the creation is over',
        () => Date.now() >= Date.parse(metadata.creationTimestamp) + 1_000,
      );
      const patch = JSON.stringify({ spec: { version: 'switched-2' } });
      await kubectl(['patch', 'agent', 'switched', '--type=merge', `--patch=${patch}`]);
      await until('the switch is recorded', async () => (await switches()).length === 2);
      expect(await switches()).toEqual([
        [{ kind: 'claimed', name: 'kubectl-client-side-apply (field manager)' }, 'switched-1'],
        [{ kind: 'claimed', name: 'kubectl-patch (field manager)' }, 'switched-2'],
      ]);
    });

    test('an edit of a ModelBinding that applies nothing is in the audit log once, with its field manager', async () => {
      const modelId = await world.createModel('edited-settings');
      await world.untilState(modelId, 'unbound');
      const edits = async () => {
        const { items } = (await world.api.call(`/api/v1/audit?targetId=${modelId}&action=binding.update`)).json;
        return (items as readonly AuditEntry[]).map(
          ({ content }) => [content.author, content.settings?.changed] as const,
        );
      };
      const edit = (spec: object) =>
        kubectl(['patch', 'modelbinding', 'edited-settings', '--type=merge', `--patch=${JSON.stringify({ spec })}`]);
      await edit({ streaming: 'Allowed' });
      await until('the first edit is recorded', async () => (await edits()).length === 1);
      await edit({ apply: 'by-hand' });
      await edit({ replicas: 2, unjudged: 'Refuse' });
      await until('the second edit is recorded', async () => (await edits()).length === 2);
      expect((await edits()).map(([, changed]) => changed)).toEqual([['replicas', 'unjudged'], ['streaming']]);
      let count = 2;
      const author = await until('an edit of a later second than the creation has its author', async () => {
        await edit({ replicas: ++count });
        await until('the edit is recorded', async () => (await edits()).length === count);
        const [[newest] = []] = await edits();
        return newest?.kind !== 'unknown' && newest;
      });
      expect(author).toEqual({ kind: 'claimed', name: 'kubectl-patch (field manager)' });
    });

    test('a command whose write RBAC denies is 503 and has an entry in the audit log', async () => {
      const { id } = await world.createPolicy('denied-by-rbac');
      const rulesOf = (verbs: readonly string[]) =>
        JSON.stringify({
          rules: managementRules.map((rule) =>
            rule.verbs.some((verb) => verb === 'patch') ? { ...rule, verbs } : rule,
          ),
        });
      const role = (verbs: readonly string[]) =>
        kubectl(['patch', 'role', 'management', '--type=merge', `--patch=${rulesOf(verbs)}`]);
      const save = async () => {
        const { policy, etag } = await world.readPolicy(id);
        const { name, status, definition } = policy;
        const answer = await world.api.command('PUT', `${list}/${id}`, { name, status, definition }, { etag });
        if (answer.status === 202) await world.api.ended(answer);
        return answer;
      };
      await role(['get']);
      const denied = await until('the right is gone', async () => {
        const answer = await save();
        return answer.status !== 202 && answer;
      });
      await role(['patch']);
      expect([denied.status, denied.json.error.code]).toEqual([503, 'resources_unavailable']);
      const { items } = (await world.api.call(`/api/v1/audit?targetId=${id}&outcome=refused`)).json;
      expect(items).toHaveLength(1);
      expect(items[0].content).toMatchObject({
        action: 'policy.update',
        code: 'resources_unavailable',
        traceId: denied.json.error.traceId,
      });
      await until('the right is back', async () => (await save()).status === 202);
    });

    test('the API reads and writes again after a restart of the API server', async () => {
      const { id } = await world.createPolicy('before-the-restart');
      await world.restartApiServer();
      const { policy, etag } = await until('a read is answered', () => world.readPolicy(id));
      expect(policy).toMatchObject({ id, revision: 1 });
      const { name, status, definition } = policy;
      const repeatable = { key: newKey(), etag };
      const saved = await untilAnswered(() =>
        world.api.command('PUT', `${list}/${id}`, { name, status, definition }, repeatable),
      );
      expect((await world.api.ended(saved)).result).toMatchObject({ revision: 2 });
      for (const replica of [0, 1]) {
        await until('every replica lists the new revision', async () => {
          const { items } = (await world.api.call(`${list}?limit=50`, { replica })).json;
          const found = items.find((entry: { readonly id: string }) => entry.id === id);
          return found?.revision === 2;
        });
      }
    });

    test('the Role of the chart for the management API has exactly the rules of these tests', () => {
      const file = join(import.meta.dirname, '../../charts/portcullis/templates/management/rbac.yaml');
      const [, role = ''] = readFileSync(file, 'utf8')
        .split('---\n')
        .map((text) => text.replaceAll(/^\{\{.*\}\}$|^\s+\{\{-.*\}\}$/gm, ''));
      const { rules } = parse(role.replaceAll(/\{\{.*?\}\}/g, 'x')) as { readonly rules: typeof managementRules };
      const flat = (all: typeof managementRules | typeof rules): readonly string[] =>
        all
          .flatMap(({ apiGroups, resources, verbs }) =>
            resources.flatMap((resource) => verbs.map((verb) => `${apiGroups[0]} ${resource} ${verb}`)),
          )
          .toSorted();
      expect(flat(rules)).toEqual(flat(managementRules));
    });
  },
);
