import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AuditEntry } from '#contracts/audit';
import { until } from '#kit/testing/until';
import { sampleAgent } from '#kube/testing/sample-agents';
import { root } from '../../hack/check/run-tool.ts';
import { kubectlOk } from '../../hack/cluster/control-plane/kubectl.ts';
import { agentIdOf } from '../../operator/agents/agent-bundle.ts';
import { definitionOf } from '../../operator/testing/objects.ts';
import { missingApiServer, onApiServer } from '../kube/open-api-server.ts';
import { type ClusterWorld, openClusterWorld } from './open-cluster-world.ts';
import { issuer } from './start-management.ts';

const settings = { PORTCULLIS_CHANGE_AUTHORS: 'admission' };
const writtenBy = 'portcullis.dev/written-by';

describe.skipIf(missingApiServer !== undefined)(onApiServer('the authors of changes in a cluster'), () => {
  let world: ClusterWorld;

  beforeAll(async () => {
    world = await openClusterWorld({ environment: settings, operatorSettings: settings });
    await kubectlOk(world.kubeconfigFile, ['apply', '--server-side', `--filename=${join(root, 'crds', 'authors')}`]);
    await until('the users are named', async () => {
      const probe = JSON.stringify(policyOf('probe', ''));
      const shown = JSON.parse(
        await by('alice', ['create', '--filename=-', '--dry-run=server', '--output=json'], probe),
      );
      return shown.metadata.annotations?.[writtenBy] === 'alice';
    });
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  const by = (user: string, args: readonly string[], input = ''): Promise<string> => {
    const scope = [`--namespace=${world.client.namespace}`, `--as=${user}`, '--as-group=system:masters'];
    return kubectlOk(world.kubeconfigFile, [...scope, ...args], input);
  };
  const patch = (user: string, kind: string, name: string, change: object) =>
    by(user, ['patch', kind, name, '--type=merge', `--patch=${JSON.stringify(change)}`]);
  const object = async (kind: string, name: string) =>
    JSON.parse(await by('reader', ['get', kind, name, '--output=json']));
  const named = (user: string) => ({ kind: 'claimed', name: `${user} (Kubernetes user)` });
  const authorsOf = async (target: string, action: string) => {
    const { items } = (await world.api.call(`/api/v1/audit?targetId=${target}&action=${action}&order=oldest`)).json;
    return (items as readonly AuditEntry[]).map(({ content }) => content.author);
  };
  /** A manifest whose writer says that other persons made the change. */
  const policyOf = (name: string, description: string) => ({
    apiVersion: 'portcullis.dev/v1alpha1',
    kind: 'GuardrailPolicy',
    metadata: {
      name,
      annotations: {
        [writtenBy]: 'mallory',
        'portcullis.dev/change-note': JSON.stringify({ token: '', author: `boss (${issuer})`, message: 'why' }),
      },
    },
    spec: { displayName: name, description, lifecycle: 'Draft', definition: definitionOf(name) },
  });

  test('a revision of a policy that kubectl wrote has the user and the message, and not the author whom the manifest states', async () => {
    await by('alice', ['apply', '--filename=-'], JSON.stringify(policyOf('by-kubectl', 'first')));
    const id: string = await until(
      'the policy has its id',
      async () => (await object('guardrailpolicy', 'by-kubectl')).metadata.labels?.['portcullis.dev/id'],
    );
    const revision = (number: number) =>
      until(`revision ${number} is recorded`, () => object('policyrevision', `${id}-${number}`).catch(() => undefined));
    expect((await revision(1)).spec).toMatchObject({ author: 'alice (Kubernetes user)', message: 'why' });
    await until('the first version is observed', async () => (await authorsOf(id, 'policy.record')).length === 1);
    await by('bob', ['apply', '--filename=-'], JSON.stringify(policyOf('by-kubectl', 'second')));
    expect((await revision(2)).spec).toMatchObject({ author: 'bob (Kubernetes user)' });
    await until('both are observed', async () => (await authorsOf(id, 'policy.record')).length === 2);
    expect(await authorsOf(id, 'policy.record')).toEqual([named('alice'), named('bob')]);
    // A command is written by the management API in the name of its caller.
    await world.savePolicy(id, { description: 'third' });
    expect((await revision(3)).spec.author).toBe(`root-admin (${issuer})`);
    expect(await authorsOf(id, 'policy.record')).toHaveLength(2);
    await patch('alice', 'guardrailpolicy', 'by-kubectl', { spec: { description: 'fourth' } });
    expect((await revision(4)).spec.author).toBe('alice (Kubernetes user)');
  });

  test('an application has the user who requested it, and an edit of settings the user who made it', async () => {
    const { id } = await world.createPolicy('applied');
    const modelId = await world.createModel('by-users');
    await world.applied(modelId, id, 1);
    const newest = async () => (await object('modelbinding', 'by-users')).status.applications[0];
    expect((await newest()).author).toBe(`root-admin (${issuer})`);
    await patch('alice', 'modelbinding', 'by-users', { spec: { unjudged: 'Refuse' } });
    await until('the edit is observed', async () => (await authorsOf(modelId, 'binding.update')).length === 1);
    expect(await authorsOf(modelId, 'binding.update')).toEqual([named('alice')]);
    expect((await newest()).author).toBe(`root-admin (${issuer})`);

    world.gateway.attitude = 'pend';
    await patch('bob', 'modelbinding', 'by-users', { spec: { apply: 'by-bob' } });
    // Another user edits the binding while the application is in progress.
    await patch('alice', 'modelbinding', 'by-users', { spec: { extraRequestKeys: ['seed'] } });
    world.gateway.attitude = 'take';
    await until('the application has its outcome', async () => (await newest()).operationId === 'by-bob');
    expect((await newest()).author).toBe('bob (Kubernetes user)');
    const observed = async () => (await authorsOf(modelId, 'binding.apply')).filter(({ kind }) => kind !== 'token');
    await until('the application is observed', async () => (await observed()).length > 0);
    expect((await observed()).at(-1)).toEqual(named('bob'));
  });

  test('a switch of an Agent has the user, also within the second of its creation', async () => {
    await by('alice', ['apply', '--filename=-'], JSON.stringify(sampleAgent('switched', 'switched-1')));
    const id = agentIdOf(world.client.namespace, 'switched');
    await until('the agent is observed', async () => (await authorsOf(id, 'agent.serve')).length === 1);
    await patch('bob', 'agent', 'switched', { spec: { version: 'switched-2' } });
    await until('the switch is observed', async () => (await authorsOf(id, 'agent.serve')).length === 2);
    expect(await authorsOf(id, 'agent.serve')).toEqual([named('alice'), named('bob')]);
  });
});
