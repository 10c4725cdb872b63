import { expect, test } from 'vitest';
import { startScriptedHttp } from '#kit/testing/scripted-http';
import { createClient } from '#kube/client/client';
import { createPodLogs } from './pod-logs.ts';

const status = (code: number, message: string): string =>
  JSON.stringify({ apiVersion: 'v1', kind: 'Status', status: 'Failure', reason: 'BadRequest', code, message });

const metadata = (name: string, labels: object) => ({
  name,
  namespace: 'team',
  uid: name,
  resourceVersion: '1',
  creationTimestamp: '2026-01-01T00:00:00Z',
  labels,
});
const pod = (name: string, labels: object, containers: readonly string[] = ['main']) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: metadata(name, labels),
  spec: { containers: containers.map((container) => ({ name: container })) },
  status: {},
});

test('logs of pods are listed by component and workload, and read with the parameters of kubectl', async () => {
  const items = [
    pod('gateway-1', { 'app.kubernetes.io/component': 'gateway' }),
    pod('g-1-x', { 'app.kubernetes.io/component': 'runtime', 'portcullis.dev/workload': 'g-1' }),
  ];
  await using server = await startScriptedHttp((response, { path }) => {
    if (path.includes('/log')) return void response.end('one\ntwo');
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ apiVersion: 'v1', kind: 'PodList', metadata: { resourceVersion: '1' }, items }));
  });
  const access = { url: server.url, credentials: { authorization: () => 'Bearer t' } };
  await using client = createClient({ ...access, namespace: 'team' });
  const logs = createPodLogs(client, access, 5_000);
  expect(await logs.list()).toEqual([
    { name: 'gateway-1', component: 'gateway' },
    { name: 'g-1-x', component: 'runtime', workload: 'g-1' },
  ]);
  const { signal } = new AbortController();
  const lines = await Array.fromAsync(logs.read('gateway-1', { follow: true, tail: 5, sinceSeconds: 60, signal }));
  expect(lines).toEqual(['one', 'two']);
  expect(server.seen.at(-1)?.path).toBe(
    '/api/v1/namespaces/team/pods/gateway-1/log?follow=true&tailLines=5&sinceSeconds=60',
  );
});

test('a pod with several containers has a log for each, whose name contains the container', async () => {
  const items = [pod('gateway-1', { 'app.kubernetes.io/component': 'gateway' }, ['gateway', 'proxy'])];
  await using server = await startScriptedHttp((response, { path }) => {
    if (path.includes('/log')) return void response.end('one');
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ apiVersion: 'v1', kind: 'PodList', metadata: { resourceVersion: '1' }, items }));
  });
  const access = { url: server.url, credentials: { authorization: () => 'Bearer t' } };
  await using client = createClient({ ...access, namespace: 'team' });
  const logs = createPodLogs(client, access, 5_000);
  expect((await logs.list()).map(({ name }) => name)).toEqual(['gateway-1/gateway', 'gateway-1/proxy']);
  const { signal } = new AbortController();
  await Array.fromAsync(logs.read('gateway-1/proxy', { follow: false, signal }));
  expect(server.seen.at(-1)?.path).toBe('/api/v1/namespaces/team/pods/gateway-1/log?container=proxy');
});

test('the log of a container that has not started, of a deleted pod and of a node that does not answer is absent with the reason', async () => {
  const waiting = 'container "main" in pod "gateway-1" is waiting to start: ImagePullBackOff';
  const answers = [
    [400, waiting],
    [404, 'pods "gateway-1" not found'],
    [500, 'Get "https://10.0.0.1:10250/containerLogs": dial tcp: connection refused'],
    [403, 'pods "gateway-1" is forbidden: no right to get pods/log'],
  ] as const;
  const open = [...answers];
  await using server = await startScriptedHttp((response) => {
    const [code, message] = open.shift() ?? [500, ''];
    response.writeHead(code, { 'content-type': 'application/json' }).end(status(code, message));
  });
  const access = { url: server.url, credentials: { authorization: () => 'Bearer t' } };
  await using client = createClient({ ...access, namespace: 'team' });
  const logs = createPodLogs(client, access, 5_000);
  const { signal } = new AbortController();
  const read = () => Array.fromAsync(logs.read('gateway-1', { follow: false, previous: true, signal }));
  await expect(read()).rejects.toMatchObject({
    exit: 'not_found',
    message: `gateway-1 has no log: Container "main" in pod "gateway-1" is waiting to start: ImagePullBackOff.`,
  });
  await expect(read()).rejects.toMatchObject({ exit: 'not_found' });
  await expect(read()).rejects.toMatchObject({ exit: 'not_found' });
  await expect(read()).rejects.toMatchObject({ code: 'forbidden' });
  expect(server.seen.at(-1)?.path).toBe('/api/v1/namespaces/team/pods/gateway-1/log?previous=true');
});
