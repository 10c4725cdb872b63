import { ConfigError, readEnvironment, setting, type Values } from '#kit/env/read-environment';
import type { ClusterConfig, OperatorConfig, SharedConfig, StandaloneConfig } from './composition/operator-config.ts';

const mode = {
  PORTCULLIS_MODE: setting.choice({
    help: 'standalone serves the resources of a folder and runs local processes; cluster uses an API server',
    choices: ['standalone', 'cluster'],
    default: 'standalone',
  }),
};

/** Settings of both modes. */
const shared = {
  PORTCULLIS_LISTEN: setting.hostPort({
    help: 'where /livez, /readyz and /metrics are served',
    default: '127.0.0.1:0',
  }),
  PORTCULLIS_NAMESPACE: setting.string({ help: 'the namespace of all resources', default: 'default' }),
  PORTCULLIS_PROGRESS_DEADLINE_SECONDS: setting.integer({
    help: 'seconds after which an application that is not confirmed counts as failed',
    min: 1,
    max: 86_400,
    default: 600,
  }),
  PORTCULLIS_MAX_STREAM_SECONDS: setting.integer({
    help: 'the longest stream, in seconds: for so long a replaced workload is kept at most; the same as at the gateways',
    min: 1,
    max: 86_400,
    default: 900,
  }),
  PORTCULLIS_BUILD: setting.optional(
    setting.string({
      help: 'version of the runtime; where absent, in standalone the package version and a digest of the sources, in a cluster the image of workload.yaml',
    }),
  ),
};

const standalone = {
  PORTCULLIS_DATA_DIR: setting.path({ help: 'standalone: the data directory of the platform, owned by the operator' }),
  PORTCULLIS_API_LISTEN: setting.hostPort({
    help: 'standalone: where the resources are served; an address of the loopback interface',
    default: '127.0.0.1:0',
  }),
};

const mounted = '/var/run/secrets/kubernetes.io/serviceaccount';

const cluster = {
  PORTCULLIS_API_URL: setting.optional(
    setting.url({ help: 'cluster: where the API server is; that of the own cluster where absent' }),
  ),
  PORTCULLIS_API_TOKEN_FILE: setting.optional(
    setting.path({ help: 'cluster: token for the API server; that of the service account where absent' }),
  ),
  PORTCULLIS_API_CA_FILE: setting.optional(
    setting.path({
      help: 'cluster: authorities of the API server (PEM); those of the service account where PORTCULLIS_API_URL is absent, else those of the system',
    }),
  ),
  PORTCULLIS_KUBECONFIG: setting.optional(
    setting.file({ help: 'cluster: a kubeconfig in the place of the three settings for the API server' }),
  ),
  PORTCULLIS_ENVIRONMENT_DIR: setting.path({
    help: 'cluster: the folder of providers.yaml, limits.yaml, served-policies.yaml and workload.yaml, a mounted ConfigMap',
  }),
  PORTCULLIS_RUNTIME_TOKEN_FILE: setting.file({
    help: 'cluster: the service token of the runtimes, one or two lines; the first is sent with the tests of policies',
  }),
  PORTCULLIS_SECRETS_DIR: setting.path({
    help: 'cluster: the folder of provider credentials, one file each, from which providers are asked once per application',
  }),
  PORTCULLIS_REPLICA: setting.string({ help: 'cluster: the name of the pod, which identifies it in the lease' }),
  PORTCULLIS_LEASE_NAME: setting.string({
    help: 'cluster: the Lease by which replicas agree on who acts',
    default: 'portcullis-operator',
  }),
};

/** Settings of the operator. */
export const settings = { ...mode, ...shared, ...standalone, ...cluster };

/**
 * Reads the environment once.
 * @throws ConfigError naming every setting of the mode that is wrong
 */
export function readConfig(env: NodeJS.ProcessEnv = process.env): OperatorConfig {
  switch (modeOf(env)) {
    case 'standalone':
      return standaloneConfig(readEnvironment({ ...mode, ...standalone, ...shared }, env));
    case 'cluster':
      return clusterConfig(readEnvironment({ ...mode, ...cluster, ...shared }, env));
    case undefined:
      // Which settings there must be is not known: what both modes share is told with it.
      readEnvironment({ ...mode, ...shared }, env);
      throw new TypeError('a mode that is none is a problem');
  }
}

function modeOf(env: NodeJS.ProcessEnv): 'standalone' | 'cluster' | undefined {
  const { PORTCULLIS_MODE: text = 'standalone' } = env;
  return text === 'standalone' || text === 'cluster' ? text : undefined;
}

function sharedConfig(values: Values<typeof shared>): SharedConfig {
  return {
    listen: values.PORTCULLIS_LISTEN,
    namespace: values.PORTCULLIS_NAMESPACE,
    progressDeadlineMs: values.PORTCULLIS_PROGRESS_DEADLINE_SECONDS * 1_000,
    maxStreamMs: values.PORTCULLIS_MAX_STREAM_SECONDS * 1_000,
    build: values.PORTCULLIS_BUILD,
  };
}

function standaloneConfig(values: Values<typeof shared & typeof standalone>): StandaloneConfig {
  return {
    mode: 'standalone',
    ...sharedConfig(values),
    dataDirectory: values.PORTCULLIS_DATA_DIR,
    apiListen: values.PORTCULLIS_API_LISTEN,
  };
}

function clusterConfig(values: Values<typeof shared & typeof cluster>): ClusterConfig {
  return {
    mode: 'cluster',
    ...sharedConfig(values),
    api: apiOf(values),
    environmentDirectory: values.PORTCULLIS_ENVIRONMENT_DIR,
    runtimeTokenFile: values.PORTCULLIS_RUNTIME_TOKEN_FILE,
    secretsDirectory: values.PORTCULLIS_SECRETS_DIR,
    replica: values.PORTCULLIS_REPLICA,
    leaseName: values.PORTCULLIS_LEASE_NAME,
  };
}

function apiOf(values: Values<typeof cluster>): ClusterConfig['api'] {
  const { PORTCULLIS_KUBECONFIG: kubeconfig, PORTCULLIS_API_URL: url } = values;
  const { PORTCULLIS_API_TOKEN_FILE: tokenFile, PORTCULLIS_API_CA_FILE: caFile } = values;
  if (kubeconfig === undefined) {
    return {
      kind: 'mounted',
      url: url?.href ?? 'https://kubernetes.default.svc',
      tokenFile: tokenFile ?? `${mounted}/token`,
      caFile: caFile ?? (url === undefined ? `${mounted}/ca.crt` : undefined),
    };
  }
  const given = { PORTCULLIS_API_URL: url, PORTCULLIS_API_TOKEN_FILE: tokenFile, PORTCULLIS_API_CA_FILE: caFile };
  const names = Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  if (names.length === 0) return { kind: 'kubeconfig', file: kubeconfig };
  throw new ConfigError(
    names.map(
      (name) => `${name} is set, and so is PORTCULLIS_KUBECONFIG: remove one, both say where the API server is`,
    ),
  );
}
