import { ConfigError, readEnvironment, setting, type Values } from '#kit/env/read-environment';
import { traceExportOf, traceSettings } from '#kit/trace/trace-settings';
import { authorSettings } from '#kube/client/author-settings';
import { relationsOf, relationsSettings } from '#relations/adapters/relations-settings';
import type {
  AgentAccess,
  AuthorityAccess,
  ClusterConfig,
  OperatorConfig,
  RetrievalAccess,
  SharedConfig,
  StandaloneConfig,
} from './composition/operator-config.ts';

const mode = {
  PORTCULLIS_MODE: setting.choice({
    help: 'standalone serves the resources of a folder and runs local processes; cluster uses an API server',
    choices: ['standalone', 'cluster'],
    default: 'standalone',
  }),
};

/** Settings of the operator for both modes, standalone and cluster. */
const shared = {
  PORTCULLIS_LISTEN: setting.hostPort({
    help: 'address of /livez, /readyz and /metrics',
    default: '127.0.0.1:0',
  }),
  PORTCULLIS_NAMESPACE: setting.string({ help: 'namespace of all resources', default: 'default' }),
  PORTCULLIS_PROGRESS_DEADLINE_SECONDS: setting.integer({
    help: 'progress deadline in seconds: an application that is not confirmed by then fails',
    min: 1,
    max: 86_400,
    default: 600,
  }),
  PORTCULLIS_MAX_STREAM_SECONDS: setting.integer({
    help: 'longest duration of a stream in seconds, after which a replaced workload is removed at the latest; must equal the setting of the gateways',
    min: 1,
    max: 86_400,
    default: 900,
  }),
  PORTCULLIS_BUILD: setting.optional(
    setting.string({
      help: 'version of the runtime; when absent: in standalone the package version and a digest of the sources, in a cluster the image of workload.yaml',
    }),
  ),
  PORTCULLIS_RETRIEVAL_URL: setting.optional(
    setting.url({
      help: 'internal address of the retrieval service; collections of resources are not managed when absent',
    }),
  ),
  PORTCULLIS_RETRIEVAL_TOKEN_FILE: setting.optional(
    setting.file({ help: 'service token for that address; required with PORTCULLIS_RETRIEVAL_URL' }),
  ),
  PORTCULLIS_RETRIEVAL_TENANTS: setting.optional(
    setting.list({
      help: 'tenants whose collections resources may declare, * for all; required with PORTCULLIS_RETRIEVAL_URL',
    }),
  ),
};

/** Settings of the rights on agents, in both modes. */
const authority = {
  PORTCULLIS_AGENT_ISSUER: setting.optional(
    setting.string({
      help: 'issuer of the tokens that the gateways sign for agents; rights on agents are managed only with it',
    }),
  ),
  PORTCULLIS_AGENT_EXPOSURE: setting.choice({
    help: 'callers that gateways admit over MCP: R1 = listed confirmers, R2 = all with the right invoke',
    choices: ['R1', 'R2'],
    default: 'R1',
  }),
  PORTCULLIS_DATABASE_URL: setting.optional(
    setting.string({
      help: 'postgres://user@host:port/database without a password: rights on agents; required with PORTCULLIS_AGENT_ISSUER',
    }),
  ),
  PORTCULLIS_DATABASE_PASSWORD_FILE: setting.optional(
    setting.path({ help: 'password of the database user, read again for every connection' }),
  ),
  ...relationsSettings,
};

const standalone = {
  PORTCULLIS_DATA_DIR: setting.path({ help: 'standalone: data directory of the platform, owned by the operator' }),
  PORTCULLIS_API_LISTEN: setting.hostPort({
    help: 'standalone: address of the resource API, on the loopback interface',
    default: '127.0.0.1:0',
  }),
  PORTCULLIS_AGENTS_URL: setting.optional(
    setting.url({ help: 'standalone: address of agents for clients; versions of agents are not run when absent' }),
  ),
  PORTCULLIS_AGENTS_MODEL_GATEWAY_URL: setting.optional(
    setting.url({ help: 'standalone: address of the gateway of the models that agents call' }),
  ),
  PORTCULLIS_AGENTS_MODEL_GATEWAY_TOKEN_FILE: setting.optional(
    setting.path({
      help: 'standalone: client key for that address; required with PORTCULLIS_AGENTS_MODEL_GATEWAY_URL',
    }),
  ),
  PORTCULLIS_AGENTS_GATEWAY_URL: setting.optional(
    setting.url({
      help: 'standalone: address of the gateway of agents; without it headers name the callers of agents. Requires PORTCULLIS_AGENT_ISSUER',
    }),
  ),
  PORTCULLIS_AGENTS_RETRIEVAL_URL: setting.optional(
    setting.url({ help: 'standalone: address of the retrieval service that agents call' }),
  ),
  PORTCULLIS_AGENTS_MEMORY_URL: setting.optional(
    setting.url({ help: 'standalone: address of the memory service that agents call' }),
  ),
  PORTCULLIS_AGENTS_FILES_ISSUER: setting.optional(
    setting.string({
      help: 'standalone: issuer of references to files in the data directory; versions that read files are not ready without it',
    }),
  ),
  ...traceSettings,
};

const mounted = '/var/run/secrets/kubernetes.io/serviceaccount';

const cluster = {
  PORTCULLIS_API_URL: setting.optional(
    setting.url({ help: 'cluster: URL of the API server; the cluster of the pod when absent' }),
  ),
  PORTCULLIS_API_TOKEN_FILE: setting.optional(
    setting.path({ help: 'cluster: token file for the API server; the service account token when absent' }),
  ),
  PORTCULLIS_API_CA_FILE: setting.optional(
    setting.path({
      help: 'cluster: CA certificates of the API server (PEM); when absent, those of the service account if PORTCULLIS_API_URL is absent, else those of the system',
    }),
  ),
  PORTCULLIS_KUBECONFIG: setting.optional(
    setting.file({ help: 'cluster: kubeconfig that replaces the three settings of the API server' }),
  ),
  PORTCULLIS_ENVIRONMENT_DIR: setting.path({
    help: 'cluster: folder of providers.yaml, limits.yaml, served-policies.yaml and workload.yaml, a mounted ConfigMap',
  }),
  PORTCULLIS_RUNTIME_TOKEN_FILE: setting.file({
    help: 'cluster: service token of the runtimes, one or two lines; the first is sent with policy tests',
  }),
  PORTCULLIS_SECRETS_DIR: setting.path({
    help: 'cluster: folder of provider credentials, one file each, for the one call to each provider before an application',
  }),
  PORTCULLIS_CACHE_DIR: setting.optional(
    setting.path({
      help: 'cluster: folder of this replica alone for figures of patterns, which make the next validation of a policy short; a folder that other accounts can write to is not used',
    }),
  ),
  PORTCULLIS_REPLICA: setting.string({
    help: 'cluster: name of the pod, which identifies it as the holder of the lease',
  }),
  PORTCULLIS_LEASE_NAME: setting.string({
    help: 'cluster: name of the Lease by which replicas elect the leader',
    default: 'portcullis-operator',
  }),
  ...authorSettings,
};

/** Settings of the operator. */
export const settings = { ...mode, ...shared, ...authority, ...standalone, ...cluster };

/** Reads the environment once. @throws ConfigError with every invalid setting of the mode */
export function readConfig(env: NodeJS.ProcessEnv = process.env): OperatorConfig {
  switch (modeOf(env)) {
    case 'standalone':
      return standaloneConfig(readEnvironment({ ...mode, ...standalone, ...authority, ...shared }, env));
    case 'cluster':
      return clusterConfig(readEnvironment({ ...mode, ...cluster, ...authority, ...shared }, env));
    case undefined:
      // The mode is unknown, so only the common settings are checked in addition.
      readEnvironment({ ...mode, ...shared }, env);
      throw new TypeError('the unknown operator mode was not reported as a problem of the settings');
  }
}

function modeOf(env: NodeJS.ProcessEnv): 'standalone' | 'cluster' | undefined {
  const { PORTCULLIS_MODE: text = 'standalone' } = env;
  return text === 'standalone' || text === 'cluster' ? text : undefined;
}

function sharedConfig(values: Values<typeof shared & typeof authority>): SharedConfig {
  return {
    listen: values.PORTCULLIS_LISTEN,
    namespace: values.PORTCULLIS_NAMESPACE,
    progressDeadlineMs: values.PORTCULLIS_PROGRESS_DEADLINE_SECONDS * 1_000,
    maxStreamMs: values.PORTCULLIS_MAX_STREAM_SECONDS * 1_000,
    build: values.PORTCULLIS_BUILD,
    retrieval: retrievalOf(values),
    authority: authorityOf(values),
  };
}

function retrievalOf(values: Values<typeof shared>): RetrievalAccess | undefined {
  const { PORTCULLIS_RETRIEVAL_URL: url, PORTCULLIS_RETRIEVAL_TOKEN_FILE: tokenFile } = values;
  const { PORTCULLIS_RETRIEVAL_TENANTS: tenants } = values;
  if (url !== undefined && tokenFile !== undefined && tenants !== undefined) return { url, tokenFile, tenants };
  const given = {
    PORTCULLIS_RETRIEVAL_URL: url,
    PORTCULLIS_RETRIEVAL_TOKEN_FILE: tokenFile,
    PORTCULLIS_RETRIEVAL_TENANTS: tenants,
  };
  const missing = Object.entries(given).flatMap(([name, value]) => (value === undefined ? [name] : []));
  if (missing.length === Object.keys(given).length) return undefined;
  throw new ConfigError(missing.map((name) => `${name} is missing: the three settings of retrieval belong together`));
}

function authorityOf(values: Values<typeof authority>): AuthorityAccess | undefined {
  const issuer = values.PORTCULLIS_AGENT_ISSUER;
  if (issuer === undefined) return undefined;
  const { PORTCULLIS_DATABASE_URL: databaseUrl, PORTCULLIS_DATABASE_PASSWORD_FILE: databasePasswordFile } = values;
  if (databaseUrl === undefined || databasePasswordFile === undefined) {
    const missing = Object.entries({
      PORTCULLIS_DATABASE_URL: databaseUrl,
      PORTCULLIS_DATABASE_PASSWORD_FILE: databasePasswordFile,
    }).filter(([, value]) => value === undefined);
    throw new ConfigError(missing.map(([name]) => `${name} is missing: it must be set with PORTCULLIS_AGENT_ISSUER`));
  }
  const openFgaTokenFile = values.PORTCULLIS_OPENFGA_TOKEN_FILE;
  const exposure = values.PORTCULLIS_AGENT_EXPOSURE;
  return { databaseUrl, databasePasswordFile, issuer, exposure, relations: relationsOf(values), openFgaTokenFile };
}

function standaloneConfig(values: Values<typeof shared & typeof authority & typeof standalone>): StandaloneConfig {
  return {
    mode: 'standalone',
    ...sharedConfig(values),
    agents: agentsOf(values),
    traces: traceExportOf(values),
    dataDirectory: values.PORTCULLIS_DATA_DIR,
    apiListen: values.PORTCULLIS_API_LISTEN,
  };
}

function agentsOf(values: Values<typeof authority & typeof standalone>): AgentAccess | undefined {
  const { PORTCULLIS_AGENTS_URL: publicUrl, PORTCULLIS_AGENTS_MODEL_GATEWAY_URL: url } = values;
  const { PORTCULLIS_AGENTS_MODEL_GATEWAY_TOKEN_FILE: tokenFile } = values;
  const names = 'PORTCULLIS_AGENTS_MODEL_GATEWAY_URL and PORTCULLIS_AGENTS_MODEL_GATEWAY_TOKEN_FILE';
  if ((url === undefined) !== (tokenFile === undefined)) throw new ConfigError([`${names} belong together`]);
  if (publicUrl === undefined) {
    if (url === undefined) return undefined;
    throw new ConfigError([`${names} have no effect without PORTCULLIS_AGENTS_URL`]);
  }
  const { PORTCULLIS_AGENTS_GATEWAY_URL: gateway, PORTCULLIS_AGENT_ISSUER: issuer } = values;
  if (gateway !== undefined && issuer === undefined) {
    throw new ConfigError(['PORTCULLIS_AGENT_ISSUER is missing: it must be set with PORTCULLIS_AGENTS_GATEWAY_URL']);
  }
  return {
    publicUrl,
    gateway: gateway === undefined || issuer === undefined ? undefined : { url: gateway, issuer },
    retrieval: values.PORTCULLIS_AGENTS_RETRIEVAL_URL,
    memory: values.PORTCULLIS_AGENTS_MEMORY_URL,
    filesIssuer: values.PORTCULLIS_AGENTS_FILES_ISSUER,
    traces: traceExportOf(values),
    modelGateway: url === undefined || tokenFile === undefined ? undefined : { url, tokenFile },
  };
}

function clusterConfig(values: Values<typeof shared & typeof authority & typeof cluster>): ClusterConfig {
  return {
    mode: 'cluster',
    ...sharedConfig(values),
    api: apiOf(values),
    environmentDirectory: values.PORTCULLIS_ENVIRONMENT_DIR,
    runtimeTokenFile: values.PORTCULLIS_RUNTIME_TOKEN_FILE,
    secretsDirectory: values.PORTCULLIS_SECRETS_DIR,
    cacheDirectory: values.PORTCULLIS_CACHE_DIR,
    replica: values.PORTCULLIS_REPLICA,
    leaseName: values.PORTCULLIS_LEASE_NAME,
    namesUsers: values.PORTCULLIS_CHANGE_AUTHORS === 'admission',
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
      (name) => `${name} and PORTCULLIS_KUBECONFIG are both set: remove one, because both select the API server`,
    ),
  );
}
