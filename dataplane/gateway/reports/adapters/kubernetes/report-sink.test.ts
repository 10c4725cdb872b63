import { expect, onTestFinished, test } from 'vitest';
import { createClient } from '#kube/client/client';
import { startFakeApiServer } from '#kube/testing/fake-api-server';
import { sampleReport } from '#kube/testing/sample-resources';
import { kubernetesReports } from './report-sink.ts';

async function open() {
  const server = await startFakeApiServer();
  const client = createClient({ url: server.url, tokenFile: { first: () => 't' }, namespace: 'team' });
  onTestFinished(async () => {
    await client[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });
  return { server, client, report: () => server.object('gatewayreports', 'gateway-1') };
}

const { spec } = sampleReport('gateway-1');
const ownedBy = (uid: string) => [{ apiVersion: 'v1', kind: 'Pod', name: 'gateway-1', uid }];

test('a report is owned by the pod of its replica', async () => {
  const { client, report } = await open();
  await kubernetesReports(client, { replica: 'gateway-1', podUid: 'pod-1' }).write(spec);
  expect(report()?.metadata).toMatchObject({ namespace: 'team', ownerReferences: ownedBy('pod-1') });
});

test('a report outside a cluster has no owner', async () => {
  const { client, report } = await open();
  await kubernetesReports(client, { replica: 'gateway-1' }).write(spec);
  expect(report()?.metadata).not.toHaveProperty('ownerReferences');
});

test('the report of an earlier pod with the same name is taken over', async () => {
  const { server, client, report } = await open();
  await kubernetesReports(client, { replica: 'gateway-1', podUid: 'pod-1' }).write(spec);
  const sink = kubernetesReports(client, { replica: 'gateway-1', podUid: 'pod-2' });
  await sink.write({ ...spec, appliedThrough: '7' });
  expect(report()).toMatchObject({ metadata: { ownerReferences: ownedBy('pod-2') }, spec: { appliedThrough: '7' } });
  const writes = server.seen.length;
  await sink.write({ ...spec, appliedThrough: '7' });
  expect(server.seen).toHaveLength(writes);
});
