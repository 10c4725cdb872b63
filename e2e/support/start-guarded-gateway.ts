import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { v7 as uuid } from 'uuid';
import type { Bundle } from '#contracts/bundle';
import { canonicalBytes, digestOf } from '#contracts/canonical';
import { contextHeaders } from '#contracts/profiles';
import { openTokenFile } from '#kit/http/token-file';
import { createLogger } from '#kit/log/logger';
import { createMetrics } from '#kit/metrics/metrics';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { createClient, type KubeClient } from '#kube/client/client';
import type { GatewayReport } from '#resources/gateway-report';
import { type GatewayRoute, type GatewayRouteSpec, routeFormatVersion } from '#resources/gateway-route';
import { apiVersion, kinds } from '#resources/kinds';
import { startFolderApi } from '../../operator/folder-api/http/start-folder-api.ts';
import { type CheckProxy, startCheckProxy } from './check-proxy.ts';
import { sampleBundle } from './sample-policy.ts';
import { type ScriptedUpstream, startScriptedUpstream } from './scripted-upstream.ts';
import { type RunningProcess, startProcess } from './start-process.ts';
import { startTestRuntime } from './start-test-runtime.ts';

export const alias = 'guarded';
const namespace = 'default';
const clientKey = 'client-key-of-a-test';

/** A gateway, a runtime and a proxy between them: real processes, with faults on demand. */
export type GuardedGateway = AsyncDisposable & {
  readonly url: string;
  readonly key: string;
  readonly gateway: RunningProcess;
  readonly runtime: RunningProcess;
  readonly proxy: CheckProxy;
  readonly upstream: ScriptedUpstream;
  readonly client: KubeClient;
  readonly route: GatewayRouteSpec;
  /** Service token of the runtime. */
  readonly runtimeToken: string;
  /** Starts another runtime with the same bundle; the caller must dispose it. */
  readonly startRuntime: () => Promise<RunningProcess>;
};

type GuardedGatewayOptions = {
  readonly bundle?: Bundle;
  readonly change?: (route: GatewayRouteSpec) => GatewayRouteSpec;
  /** Further settings of the gateway. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Further settings of the runtime. */
  readonly runtimeEnvironment?: Readonly<Record<string, string>>;
};

function routeOf(bundle: Bundle, address: string, upstream: string): GatewayRouteSpec {
  const [policy] = bundle.policies;
  if (policy === undefined) throw new Error('a bundle holds at least one policy');
  const digest = digestOf(bundle);
  return {
    formatVersion: routeFormatVersion,
    gateway: 'default',
    binding: { name: alias, uid: uuid(), id: uuid() },
    alias,
    generationId: uuid(),
    token: '',
    contentProfile: bundle.contentProfile,
    state: 'Enabled',
    guardrail: {
      mode: 'Policy',
      policyId: policy.id,
      policyRevision: policy.revision,
      digest,
      addresses: [address],
      headers: {
        [contextHeaders.policyId]: policy.id,
        [contextHeaders.policyRevision]: policy.revision,
        [contextHeaders.bundleDigest]: digest,
        [contextHeaders.contentProfile]: bundle.contentProfile,
      },
      maxBodyBytes: bundle.limits.maxBodyBytes,
      maxMessages: bundle.limits.maxMessages,
      deadlineMs: { request: policy.request.deadlineMs, response: policy.response.deadlineMs },
      streaming: { allowed: true },
    },
    workload: `g-${digest.slice(0, 12)}`,
    upstream: { provider: 'scripted', endpoint: `${upstream}/v1`, model: 'scripted' },
    extraRequestKeys: [],
  };
}

function gatewayEnvironment(api: string, folder: string): Readonly<Record<string, string>> {
  return {
    PORTCULLIS_API_URL: api,
    PORTCULLIS_NAMESPACE: namespace,
    PORTCULLIS_GATEWAY: 'default',
    PORTCULLIS_REPLICA: 'gateway-1',
    PORTCULLIS_LISTEN: '127.0.0.1:0',
    PORTCULLIS_ADMIN_LISTEN: '127.0.0.1:0',
    PORTCULLIS_CLIENT_AUTH: 'keys',
    PORTCULLIS_SECRETS_DIR: join(folder, 'secrets'),
  };
}

async function startResources(folder: string, tokenFile: string) {
  return startFolderApi({
    directory: join(folder, 'resources'),
    listen: { host: '127.0.0.1', port: 0 },
    tokenFile: openTokenFile(tokenFile),
    namespace,
    logger: createLogger({ service: 'resources', level: 'error' }),
    metrics: createMetrics({ service: 'resources' }),
  });
}

/** Waits until the replica has confirmed the route. */
async function routeTaken(client: KubeClient): Promise<void> {
  await until('the gateway confirms the route', async () => {
    const { items } = await client.list<GatewayReport>(kinds.gatewayReport);
    const spec = items[0]?.spec;
    return spec?.ready === true && spec.pending.length === 0 && spec.inUse.length > 0;
  });
}

/** Starts everything and waits until the route is confirmed. Dispose ends all of it, in order. */
export async function startGuardedGateway(options: GuardedGatewayOptions = {}): Promise<GuardedGateway> {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(temporaryFolder()).path;
  const bundle = options.bundle ?? sampleBundle();
  const file = (name: string, content: string | Uint8Array): string => {
    writeFileSync(join(folder, name), content, { mode: 0o600 });
    return join(folder, name);
  };
  const runtimeToken = uuid();
  const runtimeTokenFile = file('runtime.token', `${runtimeToken}\n`);
  const apiTokenFile = file('api.token', `${uuid()}\n`);
  mkdirSync(join(folder, 'secrets'));

  const upstream = stack.use(await startScriptedUpstream({ kind: 'answer', content: 'a healthy answer' }));
  const bundleFile = file('bundle.json', canonicalBytes(bundle));
  const startAnother = () => startTestRuntime(bundleFile, runtimeTokenFile, options.runtimeEnvironment);
  const runtime = stack.use(await startAnother());
  const proxy = stack.use(await startCheckProxy(runtime.url));
  const api = stack.use(await startResources(folder, apiTokenFile));
  const client = stack.use(createClient({ url: api.url, tokenFile: openTokenFile(apiTokenFile), namespace }));
  const plain = routeOf(bundle, proxy.url, upstream.url);
  const route = options.change?.(plain) ?? plain;
  await client.create<GatewayRoute>(kinds.gatewayRoute, {
    apiVersion,
    kind: 'GatewayRoute',
    metadata: { name: alias },
    spec: route,
  });
  const gateway = stack.use(
    await startProcess({
      file: 'dataplane/gateway/main.ts',
      environment: {
        ...gatewayEnvironment(api.url, folder),
        PORTCULLIS_API_TOKEN_FILE: apiTokenFile,
        PORTCULLIS_CLIENT_KEYS_FILE: file('client.keys', `${clientKey} test\n`),
        PORTCULLIS_RUNTIME_TOKEN_FILE: runtimeTokenFile,
        ...options.environment,
      },
    }),
  );
  if (plain === route) await routeTaken(client);
  const owned = stack.move();
  return {
    url: gateway.url,
    key: clientKey,
    gateway,
    runtime,
    proxy,
    upstream,
    client,
    route,
    runtimeToken,
    startRuntime: startAnother,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
