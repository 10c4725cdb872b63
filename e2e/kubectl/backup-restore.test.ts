import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { deleteConfirmed } from '#kube/apply/delete-confirmed';
import { builtinKinds } from '#kube/client/builtin-kinds';
import type { Lease } from '#kube/client/builtin-types';
import type { KubeClient, ListOptions } from '#kube/client/client';
import type { KubeObject } from '#kube/client/kube-object';
import { listAll } from '#kube/client/list-all';
import type { CollectionResource } from '#resources/collection';
import type { GatewayRoute } from '#resources/gateway-route';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { idLabel, type Kind, kinds, restoredUidAnnotation } from '#resources/kinds';
import type { Resource, Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import { takeBackup } from '../../cli/backup/take-backup.ts';
import { bindingObject, definitionOf, guardedBy, policyObject } from '../../operator/testing/objects.ts';
import { fullObjects } from '../crds/full-objects.ts';
import { type ApiServer, missingApiServer, onApiServer, openApiServer } from '../kube/open-api-server.ts';
import { type RunningProcess, startProcess } from '../support/start-process.ts';
import { type KubectlInstallation, openInstallation } from './open-installation.ts';
import { pluginFor } from './run-plugin.ts';
import { startAskedGateway } from './start-real-gateway.ts';

const backedUp = ['PolicyRevision', 'GuardrailPolicy', 'ModelBinding', 'Collection', 'RuntimeWorkload', 'GatewayRoute'];
const policies = ['guard', 'other', 'leaving'];
const guarded = ['chat', 'behind', 'held'];

/** State that must be equal before the backup and after the restore. */
type Picture = {
  readonly histories: readonly unknown[];
  readonly ids: Readonly<Record<string, string | undefined>>;
  readonly applications: Readonly<Record<string, unknown>>;
  readonly routes: Readonly<Record<string, unknown>>;
  /** The id of each declared collection in the retrieval service. */
  readonly collections: Readonly<Record<string, unknown>>;
};

async function all<R extends Resource>(client: KubeClient, kind: Kind): Promise<readonly Stored<R>[]> {
  return (await listAll<R>(client, kind)).items;
}

async function pictureOf({ client, json }: KubectlInstallation): Promise<Picture> {
  const histories = [];
  for (const policy of policies) histories.push(await json('history', policy));
  const bindings = await all<ModelBinding>(client, kinds.modelBinding);
  const objects: readonly Stored<Resource>[] = [...(await all(client, kinds.guardrailPolicy)), ...bindings];
  const routes = await all<GatewayRoute>(client, kinds.gatewayRoute);
  return {
    histories,
    ids: Object.fromEntries(
      objects.map(({ kind, metadata }) => [`${kind} ${metadata.name}`, metadata.labels?.[idLabel]]),
    ),
    applications: Object.fromEntries(bindings.map(({ metadata, status }) => [metadata.name, status?.applications])),
    collections: Object.fromEntries(
      (await all<CollectionResource>(client, kinds.collection)).map(({ metadata }) => [
        metadata.name,
        metadata.annotations?.[restoredUidAnnotation] ?? metadata.uid,
      ]),
    ),
    routes: Object.fromEntries(routes.map(({ metadata, spec }) => [metadata.name, pinnedBy(spec)])),
  };
}

/** The pinned application of a route, without addresses and the UID of its binding, which differ between clusters. */
function pinnedBy({ generationId, token, workload, guardrail }: GatewayRoute['spec']): unknown {
  if (guardrail.mode === 'None') return { generationId, token, mode: 'None' };
  const { policyId, policyRevision, digest } = guardrail;
  return { generationId, token, workload, policyId, policyRevision, digest };
}

/** Two revisions of a policy, a policy in deletion, and models guarded by the newest, an old and no revision. */
async function makeHistory({ client, plugin }: KubectlInstallation): Promise<void> {
  await client.create(kinds.guardrailPolicy, policyObject('guard'));
  await client.create(kinds.guardrailPolicy, policyObject('other'));
  await client.create(kinds.guardrailPolicy, policyObject('leaving'));
  await client.create(kinds.modelBinding, bindingObject('chat'));
  await client.create(kinds.modelBinding, bindingObject('behind'));
  await client.create(kinds.modelBinding, bindingObject('held', { guardrail: guardedBy(1, 'leaving') }));
  await client.create(kinds.modelBinding, bindingObject('open', { guardrail: { mode: 'None' } }));
  const { status: _status, ...declared } = fullObjects.collection;
  await client.create(kinds.collection, { ...declared, metadata: { name: 'handbook' } });
  await recorded(client, 'guard', 1);
  for (const [at, term] of ['gateway', 'drawbridge'].entries()) {
    const value = definitionOf(term);
    await client.patch(kinds.guardrailPolicy, 'guard', [{ op: 'replace', path: '/spec/definition', value }]);
    await recorded(client, 'guard', at + 2);
  }
  for (const name of [...guarded, 'open']) await applied(client, name);
  expect((await plugin(['apply-revision', 'chat', '3', '--wait', '120'])).code).toBe(0);
  expect((await plugin(['apply-revision', 'chat', '2', '--wait', '120'])).code).toBe(0);
  const going = await client.get(kinds.guardrailPolicy, 'leaving');
  await deleteConfirmed(client, kinds.guardrailPolicy, going!);
}

function recorded(client: KubeClient, name: string, number: number) {
  return until(`revision ${number} of ${name} is recorded`, async () => {
    const policy = await client.get<GuardrailPolicy>(kinds.guardrailPolicy, name);
    return policy?.status?.latestRevision?.number === number;
  });
}

function applied(client: KubeClient, name: string) {
  return until(`${name} is applied`, async () => {
    const binding = await client.get<ModelBinding>(kinds.modelBinding, name);
    const condition = binding?.status?.conditions?.find(({ type }) => type === 'Applied');
    return condition?.status === 'True' && condition.observedGeneration === binding?.metadata.generation;
  });
}

/** Records all later changes of routes. */
function followRoutes(client: KubeClient) {
  const events: { readonly type: string; readonly route: Stored<GatewayRoute> }[] = [];
  const end = new AbortController();
  async function follow(): Promise<void> {
    let { resourceVersion } = await client.list(kinds.gatewayRoute);
    while (!end.signal.aborted) {
      for await (const event of client.watch<GatewayRoute>(kinds.gatewayRoute, {
        resourceVersion,
        signal: end.signal,
      })) {
        resourceVersion = event.object.metadata.resourceVersion;
        if (event.type !== 'BOOKMARK') events.push({ type: event.type, route: event.object });
      }
    }
  }
  const following = follow().catch((error: unknown) => {
    if (!end.signal.aborted) throw error;
  });
  return {
    events,
    async [Symbol.asyncDispose]() {
      end.abort();
      await following;
    },
  };
}

describe.skipIf(missingApiServer !== undefined)(onApiServer('backup and restore'), () => {
  const parts = new AsyncDisposableStack();
  let folder: ReturnType<typeof temporaryFolder>;
  let file: string;
  let echo: RunningProcess;
  let providers: Readonly<Record<string, string>>;
  let before: Picture;
  let server: ApiServer;
  let place: KubectlInstallation;

  beforeAll(async () => {
    folder = parts.use(temporaryFolder());
    file = join(folder.path, 'backup.json');
    echo = parts.use(await startProcess({ file: 'dataplane/echo/main.ts', environment: {} }));
    const approved = [{ name: 'echo', kind: 'model', endpoint: `${echo.url}/v1`, enabled: true }];
    providers = { 'providers.yaml': JSON.stringify({ providers: approved }) };
    await using first = await openApiServer({ controllers: true, audit: true });
    await using lost = await openInstallation(first);
    await lost.startOperator(providers);
    await lost.startReplica('gateway-1');
    await makeHistory(lost);
    await lost.namespace.atRest();
    before = await pictureOf(lost);
    const end = await lost.plugin(['backup', '-o', file]);
    expect(end).toMatchObject({ code: 0, stderr: '' });
    expect(end.stdout).toContain(
      '5 policyrevisions, 3 guardrailpolicies, 4 modelbindings, 1 collections, 3 runtimeworkloads, 4 gatewayroutes, in ',
    );
  });
  afterAll(() => parts.disposeAsync());

  test('a backup contains the six kinds in restore order, without owners, reports and server fields', () => {
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const { items } = JSON.parse(readFileSync(file, 'utf8')) as { items: Resource[] };
    expect([...new Set(items.map(({ kind }) => kind))]).toEqual(backedUp);
    for (const { metadata } of items) {
      const members = ['annotations', 'deletionTimestamp', 'finalizers', 'labels', 'name'];
      expect(members).toEqual(expect.arrayContaining(Object.keys(metadata)));
    }
    expect(items.filter(({ metadata }) => metadata.deletionTimestamp !== undefined)).toHaveLength(1);
  });

  describe('in an empty cluster', () => {
    beforeAll(async () => {
      server = parts.use(await openApiServer({ controllers: true, audit: true }));
      place = parts.use(await openInstallation(server));
    });
    const restore = (...args: readonly string[]) => place.plugin(['restore', file, ...args]);
    const isEmpty = async () => {
      const { items } = await place.client.list(kinds.policyRevision);
      return items.length === 0 && (await place.client.list(kinds.modelBinding)).items.length === 0;
    };

    test('a restore is refused while an operator renews its lease or a Deployment has replicas', async () => {
      await place.startOperator(providers);
      await until(
        'it leads',
        async () => (await place.client.get(builtinKinds.lease, 'portcullis-operator')) !== undefined,
      );
      const leads = await restore();
      expect(leads).toMatchObject({
        code: 11,
        stderr: expect.stringContaining('an operator renews the lease portcullis-operator'),
      });
      await place.stopOperator();
      const labels = { 'app.kubernetes.io/part-of': 'portcullis', 'app.kubernetes.io/component': 'gateway' };
      const template = { metadata: { labels }, spec: { containers: [{ name: 'a', image: 'x' }] } };
      const spec = { replicas: 1, selector: { matchLabels: labels }, template };
      const metadata = { name: 'a-gateway', labels };
      await place.client.create(builtinKinds.deployment, { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec });
      expect(await restore()).toMatchObject({
        code: 11,
        stderr: expect.stringContaining('the Deployment a-gateway has 1 replicas'),
      });
      expect(await isEmpty()).toBe(true);
      await place.namespace.kubectl('delete', 'deployment', 'a-gateway', '--wait', '--cascade=foreground');
      await until(
        'the pods of the installation are gone',
        async () => (await place.client.list(builtinKinds.pod)).items.length === 0,
      );
    });

    test('a restore names an object of another owner and writes nothing', async () => {
      const object = policyObject('in-the-way');
      const { metadata } = await place.client.create(kinds.guardrailPolicy, object);
      expect(await restore()).toMatchObject({
        code: 10,
        stderr: expect.stringContaining('GuardrailPolicy in-the-way exists and is not in the backup'),
      });
      await place.client.delete(kinds.guardrailPolicy, 'in-the-way', { uid: metadata.uid });
      expect(await isEmpty()).toBe(true);
    });

    test('a restore keeps history and ids, the operator adopts the bindings, and no route is ever unguarded', async () => {
      await using followed = followRoutes(place.client);
      await leaveLeaseOfKilledOperator();
      const done = await restore();
      expect(done).toMatchObject({ code: 0, stderr: '' });
      const lines = done.stdout.split('\n');
      expect(lines[0]).toBe(
        'The lease portcullis-operator is held by killed_1: waiting 2 s to see whether it is renewed',
      );
      expect(lines.slice(2, 8)).toEqual(
        [
          'PolicyRevision: 5',
          'GuardrailPolicy: 3',
          'ModelBinding: 4',
          'Collection: 1',
          'RuntimeWorkload: 3',
          'GatewayRoute: 4',
        ].map((line) => `${line} created`),
      );
      expect(await pictureOf(place)).toEqual(before);
      await goOn();
      await startOperatorBesideAGateway();
      await startReplicas();
      expect(await pictureOf(place)).toEqual(before);
      await expectAdopted();
      for (const { type, route } of followed.events) {
        expect(type).not.toBe('DELETED');
        expect(pinnedBy(route.spec)).toEqual(before.routes[route.metadata.name]);
      }
      expect(followed.events.length).toBeGreaterThanOrEqual(8);
    });

    async function leaveLeaseOfKilledOperator(): Promise<void> {
      const lease = await place.client.get<Lease>(builtinKinds.lease, 'portcullis-operator');
      const value = { ...lease?.spec, holderIdentity: 'killed_1', leaseDurationSeconds: 2 };
      await place.client.patch(builtinKinds.lease, 'portcullis-operator', [{ op: 'replace', path: '/spec', value }]);
    }

    /** Continues an interrupted restore; a completed restore changes nothing. */
    async function goOn(): Promise<void> {
      const again = await place.plugin(['restore', file, '--json']);
      expect(JSON.parse(again.stdout).kinds.map(({ created }: { created: number }) => created)).toEqual([
        0, 0, 0, 0, 0, 0,
      ]);
      const { metadata } = (await place.client.get(kinds.policyRevision, await revisionName('other', 1)))!;
      await place.client.delete(kinds.policyRevision, metadata.name, { uid: metadata.uid });
      const rest = JSON.parse((await place.plugin(['restore', file, '--json'])).stdout);
      expect(rest.kinds[0]).toEqual({ kind: 'PolicyRevision', created: 1, present: 4, withRecords: true });
    }

    async function revisionName(policy: string, number: number): Promise<string> {
      const found = await all<Resource<{ number: number; policy: { name: string } }>>(
        place.client,
        kinds.policyRevision,
      );
      return found.find(({ spec }) => spec.policy.name === policy && spec.number === number)!.metadata.name;
    }

    /** The gateway starts before the operator and receives requests that must be denied throughout. */
    async function startOperatorBesideAGateway(): Promise<void> {
      await place.startPod('gateway-1');
      const options = { namespace: place.client.namespace, replica: 'gateway-1', folder: folder.path };
      const text = 'a portal, a gateway and a drawbridge';
      await using gateway = await startAskedGateway(server, { ...options, text }, [...guarded, 'open']);
      await until('it serves the model without a guardrail', () => gateway.answers('open').has('200 answered'));
      await place.startOperator(providers);
      await until('the operator has adopted the bindings', async () => {
        const routes = await all<GatewayRoute>(place.client, kinds.gatewayRoute);
        return routes.every(({ metadata }) => metadata.ownerReferences?.length === 1);
      });
      await until(
        'the workloads exist',
        async () => (await place.client.list(builtinKinds.deployment)).items.length === 3,
      );
      for (const alias of guarded) {
        expect([...gateway.answers(alias)].filter((answer) => !/^(404|503) /.test(answer))).toEqual([]);
        expect(gateway.answers(alias).size).toBeGreaterThan(0);
      }
    }

    /** The test cannot reach the runtimes of this cluster, so it writes their confirmations. */
    async function startReplicas(): Promise<void> {
      await place.namespace.kubectl('delete', 'pod', 'gateway-1', '--now');
      await place.startReplica('gateway-2');
      for (const name of [...guarded, 'open']) await applied(place.client, name);
      await place.namespace.atRest();
    }

    async function expectAdopted(): Promise<void> {
      const bindings = await all<ModelBinding>(place.client, kinds.modelBinding);
      for (const { metadata } of bindings) {
        const route = await place.client.get<GatewayRoute>(kinds.gatewayRoute, metadata.name);
        expect(route?.spec.binding.uid).toBe(metadata.uid);
        expect(route?.metadata.ownerReferences).toMatchObject([{ kind: 'ModelBinding', uid: metadata.uid }]);
      }
      expect((await place.client.list(kinds.runtimeWorkload)).items).toHaveLength(3);
      await place.stopOperator();
      expect(place.events).not.toContain('application_run_again');
      expect(place.events).not.toContain('revision_recorded');
      await place.startOperator(providers);
    }

    test('after a restore revision numbers continue, and a pending deletion completes', async () => {
      const value = definitionOf('moat');
      await place.client.patch(kinds.guardrailPolicy, 'guard', [{ op: 'replace', path: '/spec/definition', value }]);
      await recorded(place.client, 'guard', 4);
      expect((await place.client.get(kinds.guardrailPolicy, 'leaving'))?.metadata.deletionTimestamp).toBeDefined();
      const held = await place.client.get(kinds.modelBinding, 'held');
      await deleteConfirmed(place.client, kinds.modelBinding, held!);
      await until(
        'the policy is gone',
        async () => (await place.client.get(kinds.guardrailPolicy, 'leaving')) === undefined,
      );
      expect(await place.json('history', 'leaving')).toHaveLength(1);
    });

    test('a backup contains concurrent writes completely, or fails', async () => {
      const { client } = place;
      let edits = 0;
      const edit = async (name: string): Promise<void> => {
        edits += 1;
        await client.patch(kinds.modelBinding, name, [{ op: 'add', path: '/spec/apply', value: `edit-${edits}` }]);
      };
      /** Edits a binding between the two lists of a backup. */
      const disturbed = (times: number): KubeClient => ({
        ...client,
        async list<R extends KubeObject>(kind: Kind, options?: ListOptions) {
          const page = await client.list<R>(kind, options);
          if (kind === kinds.modelBinding && edits < times) await edit('chat');
          return page;
        },
      });
      const { objects } = await takeBackup(disturbed(3), new Date());
      const chat = objects.find(({ kind, metadata }) => kind === 'ModelBinding' && metadata.name === 'chat');
      expect(chat?.spec).toMatchObject({ apply: 'edit-3' });
      await expect(takeBackup(disturbed(1_000), new Date())).rejects.toMatchObject({ exit: 'conflict' });
    });

    test('a backup holds no pinned application that is older than the route of its binding', async () => {
      const { client } = place;
      // A running operator would restore the status from the route.
      await place.stopOperator();
      const binding = await client.get<ModelBinding>(kinds.modelBinding, 'chat');
      const pinned = binding?.status?.pinned;
      let writes = 0;
      const pin = (value: unknown) =>
        client.patchStatus(kinds.modelBinding, 'chat', [{ op: 'replace', path: '/status/pinned', value }]);
      /** The application changes after the bindings were listed, and before their routes are. */
      const disturbed: KubeClient = {
        ...client,
        async list<R extends KubeObject>(kind: Kind, options?: ListOptions) {
          const page = await client.list<R>(kind, options);
          if (kind === kinds.modelBinding && writes === 0) {
            writes += 1;
            await pin({ ...pinned, generationId: 'g-later' });
          }
          return page;
        },
      };
      const { objects } = await takeBackup(disturbed, new Date());
      const chat = objects.find(({ kind, metadata }) => kind === 'ModelBinding' && metadata.name === 'chat');
      expect(chat).toMatchObject({ status: { pinned: { generationId: 'g-later' } } });
      await pin(pinned);
      await place.startOperator(providers);
    });

    test('the admin role restores everything; a missing right to write a status is reported, a missing right to read is refused', async () => {
      const { kubectl, controlPlane } = server;
      await kubectl('apply', '-f', 'crds/roles/portcullis-admin.yaml');
      const kindsOfBackup =
        'policyrevisions,guardrailpolicies,modelbindings,collections,runtimeworkloads,gatewayroutes';
      const resources = kindsOfBackup.split(',').map((plural) => `--resource=${plural}.portcullis.dev`);
      const verbs = '--verb=get,list,watch,create,update,patch,delete,restore';
      await kubectl('create', 'clusterrole', 'without-status', verbs, ...resources);
      const restorerIn = async (namespace: string, ...roles: readonly string[]) => {
        await kubectl('create', 'namespace', namespace);
        for (const role of roles) {
          const binding = ['rolebinding', role, `--clusterrole=${role}`, `--user=restorer-${namespace}`];
          await kubectl(`--namespace=${namespace}`, 'create', ...binding);
        }
        return pluginFor(controlPlane.kubeconfigFor(`restorer-${namespace}`), namespace);
      };
      const restorer = await restorerIn('empty', 'without-status', 'view');
      const blind = await restorer(['restore', file]);
      expect(blind).toMatchObject({ code: 11, stderr: expect.stringContaining('you are not allowed to read leases') });
      const told = await restorer(['restore', file, '--allow-running']);
      expect(told).toMatchObject({ code: 0, stderr: '' });
      const leftOut =
        'ModelBinding: you are not allowed to write a status: the records of earlier applications are not restored';
      expect(told.stdout).toContain(leftOut);

      const admin = await restorerIn('whole', 'portcullis-admin', 'view');
      const whole = await admin(['restore', file, '--allow-running']);
      expect(whole).toMatchObject({ code: 0, stderr: '' });
      expect(whole.stdout).not.toContain('not allowed to write a status');
      const outcomes = async (namespace: string) =>
        kubectl(
          `--namespace=${namespace}`,
          'get',
          'modelbindings',
          '--output=jsonpath={.items[*].status.applications[*].outcome}',
        );
      expect(await outcomes('empty')).toBe('');
      expect(await outcomes('whole')).toContain('Applied');
    });
  });
});
