import { expect, test } from 'vitest';
import { startScriptedHttp } from '#kit/testing/scripted-http';
import { createClient } from '#kube/client/client';
import { createPodLogs } from './pod-logs.ts';

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

test('a pod with several containers has a log for each, whose name holds the container', async () => {
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
