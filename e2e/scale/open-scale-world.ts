import { readFileSync, statSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubeClient } from '#kube/client/client';
import { root } from '../../hack/check/run-tool.ts';
import type { ControlPlaneOptions } from '../../hack/cluster/life/start-control-plane.ts';
import { type ApiServer, openApiServer } from '../kube/open-api-server.ts';
import { type RunningProcess, startProcess } from '../support/start-process.ts';
import { readWrites, type Write } from './audit-log.ts';
import { scaleToken } from './scale-token.ts';

/** A cluster of simulated nodes whose workloads are answered by one process, and the files of the tested processes. */
export type ScaleWorld = AsyncDisposable & {
  readonly server: ApiServer;
  readonly client: KubeClient;
  readonly folder: string;
  /** The environment of an operator with its own service account; the name of the replica is that of its pod. */
  operatorEnvironment(replica: string): Promise<Readonly<Record<string, string>>>;
  gatewayEnvironment(replica: string, podUid: string): Readonly<Record<string, string>>;
  /** The writes of operators that the API server executed after a position of the audit log. */
  operatorWrites(from?: number): Promise<readonly Write[]>;
  /** The current end of the audit log. */
  auditEnd(): number;
};

const nodes = 10;
type ScaleOptions = Pick<ControlPlaneOptions, 'apiServerFlags'> & {
  /** A shared server with simulated nodes; without an audit log writers are unknown. */
  readonly server?: ApiServer;
  /** Further settings of operators. */
  readonly operatorSettings?: Readonly<Record<string, string>>;
};

export async function openScaleWorld(options: ScaleOptions = {}): Promise<ScaleWorld> {
  await using parts = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'portcullis-scale-'));
  parts.defer(() => rm(folder, { recursive: true, force: true }));
  const server = options.server ?? parts.use(await openOwnServer(folder, options.apiServerFlags));
  const client = await server.client();
  const { namespace } = client;
  const answers = parts.use(await startAnswers(server, namespace));
  await layOut(folder, answers.url);
  await makeAccount(server, namespace, 'gateway', folder);
  const accounts = new Set<string>();
  const { auditLogFile } = server.controlPlane;
  const api = (account: string) => ({
    PORTCULLIS_API_URL: server.controlPlane.url,
    PORTCULLIS_API_TOKEN_FILE: join(folder, `${account}.token`),
    PORTCULLIS_API_CA_FILE: server.controlPlane.caFile,
    PORTCULLIS_NAMESPACE: namespace,
    PORTCULLIS_RUNTIME_TOKEN_FILE: join(folder, 'runtime.token'),
    PORTCULLIS_SECRETS_DIR: join(folder, 'secrets'),
    NODE_OPTIONS: optionsOf(account),
  });
  const owned = parts.move();
  return {
    server,
    client,
    folder,
    operatorWrites: (from = 0) => readWrites(auditLogFile, `system:serviceaccount:${namespace}:operator-`, from),
    auditEnd: () => statSync(auditLogFile).size,
    operatorEnvironment: async (replica) => {
      if (!accounts.has(replica)) await makeAccount(server, namespace, replica, folder);
      accounts.add(replica);
      return {
        ...api(replica),
        PORTCULLIS_MODE: 'cluster',
        PORTCULLIS_ENVIRONMENT_DIR: join(folder, 'environment'),
        PORTCULLIS_REPLICA: replica,
        ...options.operatorSettings,
      };
    },
    gatewayEnvironment: (replica, podUid) => ({
      ...api('gateway'),
      PORTCULLIS_REPLICA: replica,
      PORTCULLIS_POD_UID: podUid,
      PORTCULLIS_CLIENT_AUTH: 'open',
    }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

async function openOwnServer(folder: string, flags: readonly string[] = []): Promise<ApiServer> {
  const apiServerFlags = [...(await auditFlags(folder)), ...flags];
  return openApiServer({ apiServerFlags, audit: true, pretendedNodes: nodes });
}

/** The audit log contains writes only: logging every read would take more CPU than the reads. */
async function auditFlags(folder: string): Promise<readonly string[]> {
  const rules = [{ level: 'None', verbs: ['get', 'list', 'watch'] }, { level: 'Metadata' }];
  const policy = { apiVersion: 'audit.k8s.io/v1', kind: 'Policy', omitStages: ['RequestReceived'], rules };
  await writeFile(join(folder, 'audit-policy.json'), JSON.stringify(policy));
  return [`--audit-policy-file=${join(folder, 'audit-policy.json')}`];
}

/**
 * Preloaded files: names of Services resolve to this machine, and the operator collects garbage on request and reports
 * its heap.
 */
function optionsOf(account: string): string {
  const isOperator = account !== 'gateway';
  const hooks = ['scale/resolve-services.ts', ...(isOperator ? ['isolation/collect-on-signal.ts'] : [])];
  const own = isOperator ? [optionsOfChart()] : [];
  return [...own, '--expose-gc', ...hooks.map((hook) => `--import=${root}/e2e/${hook}`)].join(' ');
}

/** The Node options that the chart sets for the operator; a test compares them with the chart. */
function optionsOfChart(): string {
  const rendered = readFileSync(join(root, 'e2e/chart/testdata/default-operator-deployment.yaml'), 'utf8');
  const options = /name: NODE_OPTIONS\s+value: (.+)$/m.exec(rendered)?.[1];
  if (options === undefined) throw new TypeError('the rendered operator has no Node options');
  return options;
}

/** Probes and the provider have the same address: the provider accepts connections. */
async function layOut(folder: string, address: string): Promise<void> {
  for (const name of ['environment', 'secrets']) await mkdir(join(folder, name), { recursive: true });
  await writeFile(join(folder, 'runtime.token'), `${scaleToken}\n`);
  const provider = `{ name: echo, kind: model, endpoint: "${address}/v1", enabled: true }`;
  await writeFile(join(folder, 'environment', 'providers.yaml'), `providers:\n  - ${provider}\n`);
  const workload = `image: portcullis:1\ntokenSecret: token\nport: ${new URL(address).port}\n`;
  await writeFile(join(folder, 'environment', 'workload.yaml'), workload);
}

async function makeAccount(server: ApiServer, namespace: string, name: string, folder: string): Promise<void> {
  await server.kubectl('-n', namespace, 'create', 'serviceaccount', name);
  const account = `--serviceaccount=${namespace}:${name}`;
  await server.kubectl('create', 'clusterrolebinding', `${name}-${namespace}`, '--clusterrole=cluster-admin', account);
  const token = await server.kubectl('-n', namespace, 'create', 'token', name, '--duration=4h');
  await writeFile(join(folder, `${name}.token`), token);
}

function startAnswers(server: ApiServer, namespace: string): Promise<RunningProcess> {
  return startProcess({
    file: 'e2e/scale/answer-probes.ts',
    args: [server.controlPlane.kubeconfigFile, namespace],
    environment: {},
  });
}
