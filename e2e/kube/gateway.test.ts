import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { v7 as uuid } from 'uuid';
import { describe, expect, onTestFinished, test } from 'vitest';
import { currentProfile } from '#contracts/profiles';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { builtinKinds } from '#kube/client/builtin-kinds';
import type { Pod } from '#kube/client/builtin-types';
import type { KubeClient } from '#kube/client/client';
import { compareVersions } from '#kube/watch/compare-versions';
import type { GatewayReport } from '#resources/gateway-report';
import { type GatewayRoute, routeFormatVersion } from '#resources/gateway-route';
import { apiVersion, kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import { type RunningProcess, startProcess } from '../support/start-process.ts';
import { missingApiServer, onApiServer, openApiServer } from './open-api-server.ts';
import { useApiServer } from './shared-api-server.ts';

function unguardedRoute(alias: string): GatewayRoute {
  return {
    apiVersion,
    kind: 'GatewayRoute',
    metadata: { name: alias },
    spec: {
      formatVersion: routeFormatVersion,
      gateway: 'default',
      binding: { name: alias, uid: uuid(), id: uuid() },
      alias,
      generationId: uuid(),
      token: '',
      contentProfile: currentProfile,
      state: 'Enabled',
      guardrail: { mode: 'None' },
      upstream: { provider: 'nobody', endpoint: 'http://127.0.0.1:1/v1', model: 'none' },
      extraRequestKeys: [],
    },
  };
}

describe.skipIf(missingApiServer !== undefined)(onApiServer('a gateway in a cluster'), () => {
  const server = useApiServer(openApiServer);

  /** Creates the pod object, its service account with the rights of a gateway, and the token that a kubelet would mount. */
  async function makePod(
    client: KubeClient,
    name: string,
  ): Promise<{ readonly pod: Stored<Pod>; readonly token: string }> {
    const kubectl = (...args: readonly string[]) => server.kubectl('--namespace', client.namespace, ...args);
    await kubectl('create', 'serviceaccount', 'gateway');
    await kubectl('create', 'role', 'routes', '--verb=get,list,watch', '--resource=gatewayroutes.portcullis.dev');
    await kubectl('create', 'role', 'reports', '--verb=get,create,patch', '--resource=gatewayreports.portcullis.dev');
    for (const role of ['routes', 'reports']) {
      const account = `--serviceaccount=${client.namespace}:gateway`;
      await kubectl('create', 'rolebinding', role, `--role=${role}`, account);
    }
    const spec = { serviceAccountName: 'gateway', containers: [{ name: 'gateway', image: 'gateway' }] };
    const pod = await client.create<Pod>(builtinKinds.pod, { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec });
    const bound = ['--bound-object-kind=Pod', `--bound-object-name=${name}`, `--bound-object-uid=${pod.metadata.uid}`];
    return { pod, token: await kubectl('create', 'token', 'gateway', ...bound) };
  }

  async function startGateway(client: KubeClient, pod: Stored<Pod>, token: string): Promise<RunningProcess> {
    const folder = temporaryFolder();
    onTestFinished(() => folder[Symbol.dispose]());
    const file = (name: string, content: string): string => {
      writeFileSync(join(folder.path, name), content, { mode: 0o600 });
      return join(folder.path, name);
    };
    mkdirSync(join(folder.path, 'secrets'));
    const { url, caFile } = server.controlPlane;
    const gateway = await startProcess({
      file: 'dataplane/gateway/main.ts',
      environment: {
        PORTCULLIS_API_URL: url,
        PORTCULLIS_API_TOKEN_FILE: file('token', token),
        PORTCULLIS_API_CA_FILE: caFile,
        PORTCULLIS_NAMESPACE: client.namespace,
        PORTCULLIS_REPLICA: pod.metadata.name,
        PORTCULLIS_POD_UID: pod.metadata.uid,
        PORTCULLIS_CLIENT_AUTH: 'open',
        PORTCULLIS_RUNTIME_TOKEN_FILE: file('runtime.token', 'unused'),
        PORTCULLIS_SECRETS_DIR: join(folder.path, 'secrets'),
      },
    });
    onTestFinished(() => gateway[Symbol.asyncDispose]());
    return gateway;
  }

  test('a gateway writes the report of its pod with the rights of its service account, and loads routes again after a restart', async () => {
    const client = await server.client();
    const { pod, token } = await makePod(client, 'gateway-1');
    await startGateway(client, pod, token);
    const report = () => client.get<GatewayReport>(kinds.gatewayReport, 'gateway-1');
    const first = await until('it is ready', async () => {
      const found = await report();
      return found?.spec.ready === true ? found : undefined;
    });
    const { name, uid } = pod.metadata;
    expect(first.metadata.ownerReferences).toEqual([{ apiVersion: 'v1', kind: 'Pod', name, uid }]);
    const isThrough = async (route: Stored<GatewayRoute>): Promise<boolean> => {
      const through = (await report())?.spec.appliedThrough ?? '0';
      return compareVersions(through, route.metadata.resourceVersion) >= 0;
    };
    const before = await client.create<GatewayRoute>(kinds.gatewayRoute, unguardedRoute('before'));
    await until('the first route is seen', () => isThrough(before));
    await server.controlPlane.restartApiServer();
    const create = () => client.create<GatewayRoute>(kinds.gatewayRoute, unguardedRoute('after'));
    const after = await until('the server reports another version', create);
    await until('the second route is seen', () => isThrough(after));
    expect(await report()).toMatchObject({
      metadata: { uid: first.metadata.uid },
      spec: { pending: [], rejected: [] },
    });
  });
});
