import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { ManagedAgentList } from '#contracts/managed-agents';
import { createLogger } from '#kit/log/logger';
import { until } from '#kit/testing/until';
import { builtinKinds } from '#kube/client/builtin-kinds';
import type { Pod } from '#kube/client/builtin-types';
import { patchUnguarded } from '#kube/testing/patch-unguarded';
import type { Agent } from '#resources/agent';
import type { AgentVersion } from '#resources/agent-version';
import type { CollectionResource } from '#resources/collection';
import type { GatewayRoute } from '#resources/gateway-route';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { kinds } from '#resources/kinds';
import type { ModelBinding } from '#resources/model-binding';
import type { RuntimeWorkload } from '#resources/runtime-workload';
import { missingPostgres, openTestDatabase } from '#sql/testing/test-database';
import { createCatalogueService } from '../../dataplane/catalogue/service.ts';
import { createGatewayService } from '../../dataplane/gateway/service.ts';
import { kubectlOk } from '../../hack/cluster/control-plane/kubectl.ts';
import type { ManagedCollections } from '../../operator/collections/ports.ts';
import { bindingObject, policyObject } from '../../operator/testing/objects.ts';
import { fullObjects } from '../crds/full-objects.ts';
import { type ApiServer, missingApiServer, openApiServer } from '../kube/open-api-server.ts';
import { actions } from '../management/actions.ts';
import { startManagementReplicas } from '../management/start-management.ts';
import { openWorkloadNamespace, type WorkloadNamespace } from '../workloads/open-workload-namespace.ts';
import { startClusterOperator, startGatewayPod } from '../workloads/start-cluster-operator.ts';
import { allowedRequests, allowedResources } from './allowed-rights.ts';
import { missingHelm, skipWithout } from './tools/helm.ts';
import { release, renderChart } from './tools/render-chart.ts';

const missing = missingHelm ?? missingApiServer;
const title = "processes with only the rights of the chart's Roles";

type Entry = {
  readonly stage: string;
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly objectRef?: { readonly apiGroup?: string; readonly resource: string; readonly subresource?: string };
  readonly responseStatus?: { readonly code: number };
};

/** A retrieval service that refuses every declaration and has no collections. */
const refusingCollections: ManagedCollections = {
  ensure: async () => ({ kind: 'refused', member: '' }),
  delete: async () => ({ kind: 'ended' }),
  release: async () => ({ kind: 'ended' }),
};

const isRefused = (request: string): boolean => / 40[13]$/.test(request);

describe(title, () => {
  skipWithout(missing);
  let server: ApiServer;
  let namespace: WorkloadNamespace;
  let folder: string;
  beforeAll(async () => {
    if (missing !== undefined) return;
    server = await openApiServer({ controllers: true, audit: true });
  });
  afterAll(() => server?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    namespace = await openWorkloadNamespace(server);
    folder = await mkdtemp(join(tmpdir(), 'portcullis-rights-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  /** Distinct requests of the user in the audit log, as `verb group/resource code`. */
  function requestsOf(username: string): readonly string[] {
    const entries = readFileSync(server.controlPlane.auditLogFile, 'utf8')
      .split('\n')
      .filter((line) => line.endsWith('}'))
      .map((line) => JSON.parse(line) as Entry)
      .filter(({ stage, user }) => stage === 'ResponseComplete' && user.username === username);
    const texts = entries.map(({ verb, objectRef, responseStatus }) => {
      const { apiGroup = '', resource = '', subresource } = objectRef ?? { resource: '' };
      return `${verb} ${apiGroup}/${resource}${subresource === undefined ? '' : `/${subresource}`} ${responseStatus?.code ?? 0}`;
    });
    return [...new Set(texts)].toSorted();
  }

  /** Applies account, Role and RoleBinding of a component. @returns the user name of its pods */
  async function grantRights(component: string, values: readonly string[] = []): Promise<string> {
    const place = namespace.client.namespace;
    const [templates = ''] = component.split('-');
    const shown = `--show-only=templates/${templates}/rbac.yaml`;
    const objects = await renderChart([`--namespace=${place}`, shown, ...values]);
    const text = objects.map((object) => stringify(object)).join('---\n');
    await kubectlOk(server.controlPlane.kubeconfigFile, ['apply', `--namespace=${place}`, '--filename=-'], text);
    return `system:serviceaccount:${place}:${release}-portcullis-${component}`;
  }

  /** A client certificate instead of a token. */
  function kubeconfigOf(user: string): string {
    const place = namespace.client.namespace;
    const groups = ['system:serviceaccounts', `system:serviceaccounts:${place}`, 'system:authenticated'];
    return server.controlPlane.kubeconfigFor(user, groups);
  }

  async function becomeReady(): Promise<void> {
    for (const { metadata } of (await namespace.client.list<RuntimeWorkload>(kinds.runtimeWorkload)).items) {
      await namespace.setPods(metadata.name, true);
    }
  }

  test('an operator with exactly the rights of the chart applies, scales, replaces and removes workloads', async () => {
    const user = await grantRights('operator');
    const kubeconfig = kubeconfigOf(user);
    const { client } = namespace;
    const patch = (text: string) =>
      namespace.kubectl('patch', 'modelbinding', 'chat', '--type=merge', `--patch=${text}`);
    const routeWith = (token: string) =>
      until(`the route of ${token || 'the first application'}`, async () => {
        await becomeReady();
        const route = await client.get<GatewayRoute>(kinds.gatewayRoute, 'chat');
        return route !== undefined && (route.spec.token ?? '') === token ? route : undefined;
      });
    await using operator = await startClusterOperator(server, namespace, folder, {
      api: { kind: 'kubeconfig', file: kubeconfig },
      overrides: { collections: { collections: refusingCollections, isApproved: () => true } },
    });
    await until('it leads', () => operator.events.includes('leading'));
    await declareCollection(client);
    await declareAgentVersion(client);
    await declareAgent(client);
    const replica = await startGatewayPod(namespace, folder, 'gateway-1');
    await client.create(kinds.guardrailPolicy, policyObject('guard'));
    await client.create(kinds.modelBinding, bindingObject('chat'));
    const first = await routeWith('');
    await replica.report('take');
    await until('it is applied', async () => {
      const binding = await client.get<ModelBinding>(kinds.modelBinding, 'chat');
      return binding?.status?.conditions?.some(({ type, status }) => type === 'Applied' && status === 'True');
    });
    for (const [replicas, budgets] of [
      [2, 1],
      [1, 0],
    ] as const) {
      await patch(`{"spec":{"replicas":${replicas}}}`);
      await until(`${budgets} budgets`, async () => {
        await becomeReady();
        const names = await namespace.kubectl('get', 'poddisruptionbudgets', '--output=name');
        return names.split('\n').filter((line) => line !== '').length === budgets;
      });
    }
    for (const kind of ['deployment', 'service', 'networkpolicy']) {
      const change = '{"metadata":{"labels":{"app.kubernetes.io/part-of":"somebody-else"}}}';
      await namespace.kubectl('patch', kind, first.spec.workload ?? '', '--type=merge', `--patch=${change}`);
      await until(`the ${kind} has its desired state again`, async () => {
        const label = '--output=jsonpath={.metadata.labels.app\\.kubernetes\\.io/part-of}';
        return (await namespace.kubectl('get', kind, first.spec.workload ?? '', label)) === 'portcullis';
      });
    }
    const policy = await client.get<GuardrailPolicy>(kinds.guardrailPolicy, 'guard');
    const deletion = 'portcullis.dev/confirm-deletion=true';
    await namespace.kubectl('annotate', 'guardrailpolicy/guard', deletion);
    await namespace.kubectl('delete', 'guardrailpolicy', 'guard', '--wait=false');
    const deletedAt = '--output=jsonpath={.metadata.deletionTimestamp}';
    const time = await namespace.kubectl('get', 'guardrailpolicy', 'guard', deletedAt);
    await namespace.kubectl('annotate', 'guardrailpolicy/guard', `portcullis.dev/keep=${time}`);
    await until('the policy whose deletion is cancelled exists again', async () => {
      const live = await client.get<GuardrailPolicy>(kinds.guardrailPolicy, 'guard');
      const isNew = live?.metadata.uid !== policy?.metadata.uid && live?.metadata.deletionTimestamp === undefined;
      return isNew && live?.status?.latestRevision?.number === 1;
    });
    await patchUnguarded(client, 'chat', [{ op: 'replace', path: '/spec/guardrail', value: { mode: 'None' } }]);
    await until('it is unguarded', async () => {
      const route = await client.get<GatewayRoute>(kinds.gatewayRoute, 'chat');
      return route?.spec.guardrail.mode === 'None';
    });
    await replica.report('take');
    await until('its workload is gone', async () => {
      const names = await namespace.kubectl('get', 'deployments,services,networkpolicies,configmaps', '--output=name');
      return !names.includes(first.spec.workload ?? 'none');
    });
    await namespace.kubectl('annotate', 'modelbinding/chat', 'guardrailpolicy/guard', deletion);
    await namespace.kubectl('delete', 'modelbinding', 'chat', '--wait=false');
    await namespace.kubectl('delete', 'guardrailpolicy', 'guard', '--wait=false');
    await until('both are gone', async () => {
      await replica.report('take');
      return (await namespace.kubectl('get', 'modelbindings,guardrailpolicies', '--output=name')) === '';
    });

    const requests = requestsOf(user);
    expect(requests.filter(isRefused)).toEqual([]);
    const used = new Set(requests.map((line) => line.split(' ')[1]));
    expect(allowedResources('operator').filter((resource) => !used.has(resource))).toEqual([]);
  });

  /** A Collection that the operator writes: its finalizer, its status, and its end. */
  async function declareCollection(client: WorkloadNamespace['client']): Promise<void> {
    const { apiVersion, kind, metadata, spec } = fullObjects.collection;
    const { uid } = (await client.create(kinds.collection, { apiVersion, kind, metadata, spec })).metadata;
    await until('the collection is judged', async () => {
      const found = await client.get<CollectionResource>(kinds.collection, metadata.name);
      return found?.status?.conditions?.some(({ reason }) => reason === 'Refused');
    });
    await client.delete(kinds.collection, metadata.name, { uid });
    await until('the collection is released', async () => {
      return (await client.get(kinds.collection, metadata.name)) === undefined;
    });
  }

  /** An Agent whose version does not exist: its status, and its end. */
  async function declareAgent(client: WorkloadNamespace['client']): Promise<void> {
    const { apiVersion, kind, metadata, spec, status } = fullObjects.agent;
    const { uid } = (await client.create(kinds.agent, { apiVersion, kind, metadata, spec })).metadata;
    // The object names a version that does not exist, which can only be found out by reading the version.
    await client.patchStatus(kinds.agent, metadata.name, [{ op: 'add', path: '/status', value: status }]);
    await until('the agent is judged', async () => {
      const found = await client.get<Agent>(kinds.agent, metadata.name);
      return (found?.status?.conditions?.length ?? 0) > 0;
    });
    await client.delete(kinds.agent, metadata.name, { uid });
    await until('the agent is deleted', async () => (await client.get(kinds.agent, metadata.name)) === undefined);
  }

  /**
   * Declares an AgentVersion and judges it as the operator does, by its status; no process runs it, so that its
   * deletion does not wait.
   */
  async function declareAgentVersion(client: WorkloadNamespace['client']): Promise<void> {
    const { apiVersion, kind, metadata, spec } = fullObjects.agentVersion;
    const { uid } = (await client.create(kinds.agentVersion, { apiVersion, kind, metadata, spec })).metadata;
    await until('the version is judged', async () => {
      const found = await client.get<AgentVersion>(kinds.agentVersion, metadata.name);
      return found?.status?.conditions?.some(({ type }) => type === 'Accepted');
    });
    await client.delete(kinds.agentVersion, metadata.name, { uid });
    await until('the version is deleted', async () => {
      return (await client.get(kinds.agentVersion, metadata.name)) === undefined;
    });
  }

  test('the management API executes commands with exactly the rights of the chart', async ({ skip }) => {
    if (missingPostgres !== undefined) skip(missingPostgres);
    const user = await grantRights('management');
    const tokenFile = join(folder, 'management.token');
    await writeFile(tokenFile, await namespace.kubectl('create', 'token', user.split(':').at(-1) ?? ''));
    const { client } = namespace;
    const { url: apiUrl, caFile } = server.controlPlane;
    await using _operator = await startClusterOperator(server, namespace, folder);
    const replica = await startGatewayPod(namespace, folder, 'gateway-1');
    {
      const environmentDirectory = join(folder, 'environment');
      const place = { apiUrl, tokenFile, caFile, namespace: client.namespace, environmentDirectory };
      await using api = await startManagementReplicas(place);
      const act = actions(api, client);
      const { id } = await act.createPolicy('guard');
      const revision = await act.savePolicy(id);
      // The operator records revisions as well, and either of them is the first.
      let policies = 0;
      await until('the management API records a revision before the operator does', async () => {
        policies += 1;
        const created = await act.createPolicy(`recorded-${policies}`);
        await act.savePolicy(created.id);
        return requestsOf(user).includes('create portcullis.dev/policyrevisions 201');
      });
      for (const path of ['', `/${id}`, `/${id}/revisions`, `/${id}/revisions/1`]) {
        expect(await api.call(`/api/v1/guardrail-policies${path}`)).toMatchObject({ status: 200 });
      }
      const modelId = await act.createModel('chat');
      const accepted = await act.apply(modelId, id, revision);
      await until('the model is applied', async () => {
        await becomeReady();
        await replica.report('take');
        return (await act.readBinding(modelId)).json.state === 'applied';
      });
      expect(await api.ended(accepted)).toMatchObject({ state: 'succeeded' });
      const unused = (await act.createPolicy('unused')).id;
      await act.savePolicy(unused, { description: 'newer' });
      await until('the text of a version that nothing uses is removed', async () => {
        const answer = await api.call(`/api/v1/policy-purges/${unused}/1`, { method: 'POST' });
        if (answer.status !== 200) throw new Error(answer.text);
        return answer;
      });
      const ended = { name: 'gateway', ready: false, restartCount: 0, image: 'x', imageID: '' };
      const containerStatuses = [{ ...ended, state: { terminated: { exitCode: 0 } } }];
      const value = { phase: 'Running', containerStatuses };
      await client.patchStatus(builtinKinds.pod, 'gateway-1', [{ op: 'add', path: '/status', value }]);
      await until('a replica whose pod is not found is listed as requested', async () => {
        expect((await act.readBinding(modelId)).status).toBe(200);
        return requestsOf(user).includes('get /pods 200');
      });
      await namespace.kubectl('apply', '--filename', 'examples/agents/assistant/agent.yaml');
      const agents = await api.call('/api/v1/agents');
      expect(agents.json).toMatchObject({ items: [{ name: 'assistant', served: null }] });
      const { agentId } = (agents.json as ManagedAgentList).items[0] ?? {};
      const agent = await api.call(`/api/v1/agents/${agentId}`);
      expect(agent.json).toMatchObject({ versions: [{ name: 'assistant-1', versionId: null, roles: ['wanted'] }] });
      expect(await api.call(`/api/v1/agents/${id}`)).toMatchObject({ status: 404 });
    }
    // A watch is logged when it ends.
    const requests = requestsOf(user);
    expect(requests.filter(isRefused)).toEqual([]);
    const used = new Set(requests.map((line) => line.split(' ').slice(0, 2).join(' ')));
    expect([...used].toSorted()).toEqual(allowedRequests('management'));
  });

  test('the worker of the catalogue follows agents with exactly the rights of the chart', async ({ skip }) => {
    if (missingPostgres !== undefined) skip(missingPostgres);
    const { client } = namespace;
    const agents = ['enabled=true', 'publicUrl=https://a.example', 'issuer=https://b.example'];
    const values = [...agents.map((one) => `--set=agents.${one}`), '--set=catalogue.enabled=true'];
    const user = await grantRights('catalogue-worker', values);
    const [tokenFile, secretFile] = [join(folder, 'catalogue.token'), join(folder, 'secret')];
    await writeFile(tokenFile, await namespace.kubectl('create', 'token', user.split(':').at(-1) ?? ''));
    await writeFile(secretFile, 'a-secret-of-cursors-with-enough-characters');
    await using database = await openTestDatabase();
    const { apiVersion, kind, metadata, spec, status } = fullObjects.agent;
    const { uid } = (await client.create(kinds.agent, { apiVersion, kind, metadata, spec })).metadata;
    // The object names a version that does not exist, which can only be found out by reading the version.
    await client.patchStatus(kinds.agent, metadata.name, [{ op: 'add', path: '/status', value: status }]);
    const { url, caFile } = server.controlPlane;
    const listen = { host: '127.0.0.1', port: 0 };
    {
      await using worker = await createCatalogueService(
        {
          ...{
            listen,
            adminListen: listen,
            role: 'worker',
            identity: { mode: 'development' },
            databaseUrl: database.url,
          },
          ...{ relations: { kind: 'postgres' }, massRemoval: 'pause', logLevel: 'error', events: undefined },
          traces: undefined,
          guard: 'unguarded',
          api: { url: new URL(url), tokenFile, caFile, namespace: client.namespace },
          modelGateway: new URL('http://127.0.0.1:9'),
          modelsFile: join(folder, 'models.yaml'),
          embeddingProfile: undefined,
          indexBytes: 16 * 1_048_576,
          requests: { atOnce: 1, perMinute: 1 },
        },
        {
          databasePasswordFile: database.passwordFile,
          openFgaTokenFile: undefined,
          cursorKeyFile: secretFile,
          modelGatewayTokenFile: undefined,
        },
        { logger: createLogger({ service: 'catalogue', level: 'error', destination: { write: () => undefined } }) },
      );
      await until('all resources are read', async () => (await fetch(`${worker.adminUrl}/readyz`)).status === 200);
      await until('the served version is read', () =>
        requestsOf(user).includes('get portcullis.dev/agentversions 404'),
      );
      await client.delete(kinds.agent, metadata.name, { uid });
      await until('the deletion is confirmed', () => requestsOf(user).includes('get portcullis.dev/agents 404'));
    }
    const requests = requestsOf(user);
    expect(requests.filter(isRefused)).toEqual([]);
    const used = new Set(requests.map((line) => line.split(' ').slice(0, 2).join(' ')));
    expect([...used].toSorted()).toEqual(allowedRequests('catalogue-worker'));
  });

  test('a gateway reads routes and writes only the report of its own pod', async () => {
    const user = await grantRights('gateway');
    const account = user.split(':').at(-1) ?? '';
    const token = async (name: string): Promise<string> => {
      const securityContext = {
        allowPrivilegeEscalation: false,
        capabilities: { drop: ['ALL'] },
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
      };
      const spec = { serviceAccountName: account, containers: [{ name: 'gateway', image: 'x', securityContext }] };
      await namespace.client.create<Pod>(builtinKinds.pod, { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec });
      const bound = ['--bound-object-kind=Pod', `--bound-object-name=${name}`];
      const file = join(folder, `${name}.token`);
      await writeFile(file, await namespace.kubectl('create', 'token', account, ...bound));
      return file;
    };
    const { url, caFile } = server.controlPlane;
    const [own, other] = [await token('gateway-1'), await token('gateway-2')];
    const uid = await namespace.kubectl('get', 'pod', 'gateway-1', '--output=jsonpath={.metadata.uid}');
    const runtimeTokenFile = join(folder, 'runtime.token');
    await writeFile(runtimeTokenFile, 'a-token');
    const address = { host: '127.0.0.1', port: 0 };
    const gateway = (tokenFile: string) =>
      createGatewayService(
        {
          api: { url: new URL(url), tokenFile, caFile, namespace: namespace.client.namespace },
          gateway: 'default',
          replica: 'gateway-1',
          podUid: uid,
          listen: address,
          adminListen: address,
          clients: { auth: 'open' },
          maxRequestMs: 60_000,
          maxChecksPerAddress: 32,
          streamIdleMs: 60_000,
          maxHeldBytes: 256 * 1_048_576,
          logLevel: 'error',
        },
        { runtimeTokenFile, credentialsDirectory: folder },
        { logger: createLogger({ service: 'gateway', level: 'error', destination: { write: () => undefined } }) },
      );
    {
      await using first = await gateway(own);
      await until('it is ready', async () => (await fetch(new URL('/readyz', first.adminUrl))).status === 200);
      const owner = '--output=jsonpath={.metadata.ownerReferences[0].kind}/{.metadata.ownerReferences[0].name}';
      expect(await namespace.kubectl('get', 'gatewayreport', 'gateway-1', owner)).toBe('Pod/gateway-1');
      expect(requestsOf(user).filter(isRefused)).toEqual([]);
    }
    const reported = '--output=jsonpath={.spec.bootId}';
    const before = await namespace.kubectl('get', 'gatewayreport', 'gateway-1', reported);
    await using impostor = await gateway(other);
    await until('it is refused', () =>
      requestsOf(user).some((line) => /^patch portcullis.dev.gatewayreports 403$/.test(line)),
    );
    expect((await fetch(new URL('/readyz', impostor.adminUrl))).status).toBe(503);
    expect(await namespace.kubectl('get', 'gatewayreport', 'gateway-1', reported)).toBe(before);
  });
});
