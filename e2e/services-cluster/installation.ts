import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { signText } from '#identity/testing/test-issuer';
import { mintWorkloadToken } from '#identity/workload-token';
import { until } from '#kit/testing/until';
import type { AgentVersion } from '#resources/agent-version';
import { kinds } from '#resources/kinds';
import { versionOfFolder } from '../../cli/flows/version-of-folder.ts';
import { root } from '../../hack/check/run-tool.ts';
import { progressOn } from '../../hack/cluster/machine/progress.ts';
import { applyUntilReady } from '../agent-versions/measure-versions.ts';
import { missingCluster, namedContext } from '../chart/open-test-cluster.ts';
import { createTimetable } from '../chart/timetable.ts';
import type { ClusterAnswer } from './client-pod.ts';
import { startFilesPod } from './files-pod.ts';
import {
  audienceOfPeople,
  issuers,
  openServicesCluster,
  publicUrl,
  type ServicesCluster,
  tenant,
} from './open-services-cluster.ts';

const secondsSince = (begun: number): string => ((performance.now() - begun) / 1_000).toFixed(1);
const minutes = (count: number): number => count * 60_000;
const timetable = createTimetable();
const missing =
  namedContext() === undefined ? await missingCluster() : 'another suite installs on the cluster that is named';

const describeServices = (): void => {
  let cluster: ServicesCluster;

  beforeAll(async () => {
    cluster = await openServicesCluster(timetable, progressOn(process.stdout));
  }, minutes(30));
  afterAll(async () => {
    await cluster?.[Symbol.asyncDispose]();
    console.log(timetable.lines().join('\n'));
  }, minutes(10));

  /** Calls a service as a person, whose agent is `tutor`. */
  async function as(subject: string, service: string, path: string, body?: object): Promise<ClusterAnswer> {
    const claims = {
      ...{ iss: issuers.people, sub: subject, aud: audienceOfPeople, act: { sub: 'tutor' } },
      exp: Math.floor(Date.now() / 1_000) + 600,
    };
    const token = await signText(cluster.key, JSON.stringify(claims));
    return cluster.call({
      url: `${cluster.service(service)}${path}`,
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${token}`, 'x-tenant-id': tenant },
      ...(body === undefined ? {} : { body }),
    });
  }

  const tokenOf = (subject: string): Promise<string> => {
    const claims = { iss: issuers.people, sub: subject, aud: audienceOfPeople };
    return signText(cluster.key, JSON.stringify({ ...claims, exp: Math.floor(Date.now() / 1_000) + 600 }));
  };

  /** The agents that the catalogue lists to a person. */
  async function listedAgents(subject: string): Promise<readonly object[]> {
    const headers = { authorization: `Bearer ${await tokenOf(subject)}` };
    const { status, json } = await cluster.call({ url: `${cluster.service('catalogue')}/api/v1/agents`, headers });
    expect(status).toBe(200);
    return json['items'] as readonly object[];
  }

  /** Calls the process of a version as the gateway does for ann, or without a token, once its Service can be reached. */
  async function openVersion({ agentId = '', versionId = '', address = '' }: NonNullable<AgentVersion['status']>) {
    const send = (message: object, headers: Record<string, string> = {}) =>
      cluster.call({
        ...{ url: `${address}/message:send`, method: 'POST' },
        body: { message: { messageId: randomUUID(), role: 'ROLE_USER', ...message } },
        headers: { 'a2a-version': '1.0', ...headers },
      });
    const token = () =>
      mintWorkloadToken({
        ...{ key: cluster.gatewayKey, issuer: issuers.gateway, agentId, versionId, actors: [] },
        ...{ operation: 'message:send', subject: { issuer: issuers.people, subject: 'ann' } },
      });
    // The node learns about a new Service a moment later than the operator.
    await until('the Service of the version can be reached', () => send({}).catch(() => undefined));
    return { send, asAnn: async (message: object) => send(message, { authorization: `Bearer ${await token()}` }) };
  }

  /** Deletes a version and waits until no object of its workload is left. */
  async function removeVersion(name: string, workload: string): Promise<void> {
    const { client, kubectl } = cluster;
    await kubectl(['delete', `agentversion.portcullis.dev/${name}`, '--timeout=5m']);
    const left = ['get', 'deployments,services,networkpolicies,configmaps', '--output=name'];
    await until('its objects are removed', async () => !(await kubectl(left)).includes(workload));
    await until('its pod has ended', async () => !(await kubectl(['get', 'pods', '--output=name'])).includes(workload));
    expect(await client.get(kinds.agentVersion, name)).toBeUndefined();
  }

  const apply = (object: object): Promise<string> =>
    cluster.kubectl(['apply', '--filename=-'], JSON.stringify({ apiVersion: 'portcullis.dev/v1alpha1', ...object }));

  test(
    'a document is added to a collection of a resource, and a search finds it for its reader only',
    async () => {
      await apply({
        kind: 'Collection',
        metadata: { name: 'handbook' },
        spec: {
          tenant,
          owner: { issuer: issuers.people, subject: 'ann' },
          source: { mode: 'New' },
          ...{ name: 'handbook', type: 'KnowledgeBase', visibility: 'Public', embeddingProfile: 'offline' },
          ...{ aclModel: 'Document', chunking: { size: 800, overlap: 120 }, deletionPolicy: 'Delete' },
        },
      });
      await cluster.kubectl(['wait', '--for=condition=Ready', 'collection.portcullis.dev/handbook', '--timeout=5m']);
      const document = {
        ...{ collection: 'handbook', tenant_id: tenant, doc_id: 'travel', acl: { principals: ['ann'] } },
        content: { title: 'Travel', sections: [{ heading: 'Hotels', text: 'At most 180 euros a night.' }] },
        ...{ content_hash: 'v1', idempotency_key: 'travel-1' },
      };
      const submitted = await as('ann', 'retrieval', '/v1/documents:submit', { documents: [document] });
      expect(submitted).toMatchObject({ status: 202 });
      const [job] = submitted.json['jobs'] as readonly { readonly job_id: string }[];
      await until('the document can be found', async () => {
        const { json } = await as('ann', 'retrieval', `/v1/jobs/${job?.job_id}`);
        expect(json['status']).not.toBe('FAILED');
        return json['status'] === 'DONE';
      });
      const query = { collection: 'handbook', text: 'hotel night', mode: 'hybrid' };
      const found = await as('ann', 'retrieval', '/v1/query', query);
      expect(found).toMatchObject({ status: 200, json: { items: [{ doc_id: 'travel' }] } });
      expect(await as('bob', 'retrieval', '/v1/query', query)).toMatchObject({ status: 200, json: { items: [] } });
    },
    minutes(10),
  );

  test(
    'an added memory is found by its user and not by another user',
    async () => {
      const messages = [{ role: 'user', content: 'I live in Lisbon.' }];
      const added = await as('ann', 'memory', '/v1/memories', { messages, agent_id: 'tutor' });
      expect(added).toMatchObject({ status: 202 });
      const question = { query: 'Where does she live: Lisbon?', filters: { agent_id: 'tutor' } };
      const search = (subject: string) => as(subject, 'memory', '/v1/memories/search', question);
      await until('the memory is found', async () => {
        const { status, json } = await search('ann');
        expect(status).toBe(200);
        return (json['results'] as readonly object[]).length > 0;
      });
      expect((await search('ann')).json).toMatchObject({ results: [{ memory: 'I live in Lisbon' }] });
      expect((await search('bob')).json).toMatchObject({ results: [] });
    },
    minutes(10),
  );

  test(
    'a version of an agent is ready, answers at its Service, is listed to its readers only, and is removed with its objects',
    async () => {
      const { client, kubectl } = cluster;
      const measured = await applyUntilReady({ client, apply: (text) => kubectl(['apply', '--filename=-'], text) }, [
        'hello-1',
      ]);
      console.log(`from kubectl apply of an AgentVersion to Ready: ${measured.seconds.toFixed(1)} s`);
      const { status = {} } = measured.versions[0] ?? {};
      const { agentId = '', versionId = '', workload = '' } = status;
      const version = await openVersion(status);
      const parts = [{ text: 'hello' }];
      expect(await version.asAnn({ parts })).toMatchObject({ status: 200, json: { message: { parts } } });
      expect((await version.send({ parts })).status).toBe(401);
      const body = { message: { messageId: randomUUID(), role: 'ROLE_USER', parts } };
      const person = { kind: 'User', issuer: issuers.people, subject: 'ann' };
      const { kind: _kind, ...owner } = person;
      const access = { view: [person], invoke: [person] };
      await apply({
        kind: 'Agent',
        metadata: { name: 'hello' },
        spec: { version: 'hello-1', owner, workspace: 'tests', access },
      });
      await kubectl(['wait', '--for=condition=Ready', 'agent.portcullis.dev/hello', '--timeout=5m']);
      const through = async (subject: string) =>
        cluster.call({
          ...{ url: `${cluster.service('gateway')}/agents/${agentId}/message:send`, method: 'POST', body },
          headers: { 'a2a-version': '1.0', authorization: `Bearer ${await tokenOf(subject)}` },
        });
      expect(await through('ann')).toMatchObject({ status: 200, json: { message: { parts: [{ text: 'hello' }] } } });
      expect((await through('bob')).status).toBe(404);
      const [listed] = await until('the catalogue lists the agent with its interface to its reader', async () => {
        const agents = await listedAgents('ann');
        return agents.some((agent) => 'invocationInterface' in agent) ? agents : undefined;
      });
      const url = `${publicUrl}/agents/${agentId}/versions/${versionId}`;
      expect(listed).toMatchObject({ agentId, versionId, state: 'active', invocationInterface: { url } });
      expect(await listedAgents('bob')).toEqual([]);
      await kubectl(['delete', 'agent.portcullis.dev/hello', '--timeout=5m']);
      await until(
        'the catalogue does not list the deleted agent',
        async () => (await listedAgents('ann')).length === 0,
      );
      await removeVersion('hello-1', workload);
    },
    minutes(10),
  );

  test(
    'a version with files is ready in its read-only pod, and answers once from the file that a call refers to',
    async () => {
      const { client, kubectl, image } = cluster;
      const begun = performance.now();
      const mint = await startFilesPod(kubectl, image, 'The notes of ann.');
      await apply(versionOfFolder(join(root, 'examples/agents/reader'), {}));
      await kubectl(['wait', '--for=condition=Ready', 'agentversion.portcullis.dev/reader-1', '--timeout=5m']);
      const { status = {} } = (await client.get<AgentVersion>(kinds.agentVersion, 'reader-1')) ?? {};
      const { agentId = '', workload = '' } = status;
      const version = await openVersion(status);
      const session = randomUUID();
      const acting = { issuer: issuers.people, subject: 'ann' };
      const file = await mint({ agentId, operation: 'message:send', session, acting });
      const message = { contextId: session, parts: [{ data: { file } }] };
      expect(await version.asAnn(message)).toMatchObject({
        status: 200,
        json: { message: { parts: [{ data: { text: 'The notes of ann.' } }] } },
      });
      expect(await version.asAnn(message)).toMatchObject({
        status: 403,
        json: { error: { details: [{ metadata: { code: 'file_refused' } }] } },
      });
      await removeVersion('reader-1', workload);
      console.log(`a version with files, from its file service to its removal: ${secondsSince(begun)} s`);
    },
    minutes(10),
  );

  test('every pod is ready, has probes and is selected by a NetworkPolicy of its component', async () => {
    type Pod = {
      readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
      readonly spec: {
        readonly containers: readonly { readonly readinessProbe?: object; readonly livenessProbe?: object }[];
      };
      readonly status: {
        readonly containerStatuses: readonly { readonly ready: boolean; readonly restartCount: number }[];
      };
    };
    type Policy = {
      readonly spec: { readonly podSelector: { readonly matchLabels: Readonly<Record<string, string>> } };
    };
    const listed = async (what: string) =>
      (JSON.parse(await cluster.kubectl(['get', what, '--output=json'])) as { readonly items: readonly unknown[] })
        .items;
    const pods = ((await listed('pods')) as readonly Pod[]).filter(
      ({ metadata }) => !['client', 'files'].includes(metadata.name),
    );
    const policies = (await listed('networkpolicies')) as readonly Policy[];
    const components = new Set(pods.map(({ metadata }) => metadata.labels['app.kubernetes.io/component']));
    expect(components).toEqual(
      new Set([
        'catalogue',
        'catalogue-worker',
        'echo',
        'gateway',
        'memory',
        'operator',
        'postgres',
        'retrieval',
        'runtime',
      ]),
    );
    for (const { metadata, spec, status } of pods) {
      const own = policies.filter(({ spec: { podSelector } }) =>
        Object.entries(podSelector.matchLabels).every(([label, value]) => metadata.labels[label] === value),
      );
      expect(own.length, metadata.name).toBeGreaterThan(0);
      for (const container of spec.containers) {
        expect(container, metadata.name).toMatchObject({ readinessProbe: {}, livenessProbe: {} });
      }
      for (const { ready, restartCount } of status.containerStatuses) {
        expect([ready, restartCount], metadata.name).toEqual([true, 0]);
      }
    }
  });
};

if (missing === undefined) describe('retrieval, memory, agents and their catalogue on a cluster', describeServices);
else test('retrieval, memory, agents and their catalogue on a cluster', ({ skip }) => skip(missing));
