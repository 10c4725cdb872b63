import { readFileSync } from 'node:fs';
import type { RequestOptions } from 'node:https';
import type { Cluster, KubeConfig, User } from '@kubernetes/client-node';
import type { ClientCertificate, ClusterAccess, Credentials } from './cluster-access.ts';

/** A kubeconfig cannot be used. The message names contexts, clusters and users, never a credential. */
export class KubeconfigError extends Error {
  override readonly name = 'KubeconfigError';
}

type KubeconfigOptions = {
  /** Name of a context; the current context when absent. */
  readonly context?: string | undefined;
  /** Path of a kubeconfig. When absent: the files of KUBECONFIG, else ~/.kube/config. */
  readonly file?: string | undefined;
};

/** The current credentials of the user of a context. */
type UserCredentials = {
  readonly authorization: string | undefined;
  readonly certificate: ClientCertificate | undefined;
};

/**
 * How long credentials are cached, milliseconds; afterwards the package runs the plugin again if its result has
 * expired.
 */
const cacheMs = 10_000;

/**
 * Access with a kubeconfig: tokens, basic authentication, client certificates and credential plugins. The files are read
 * again after a 401. Loads the Kubernetes client package, which no process of the data plane may load.
 * @throws KubeconfigError when the context does not exist, its user has no credentials, or the kubeconfig uses a feature
 *   that is not supported: impersonation, a proxy, or disabled verification of the server certificate
 */
export async function loadKubeconfig(options: KubeconfigOptions = {}): Promise<ClusterAccess> {
  const kubeconfig = await readKubeconfig(options);
  const { caFile, caData, server, tlsServerName } = kubeconfig.cluster;
  const cache = cacheCredentials(kubeconfig, () => readKubeconfig(options));
  const first = await cache.current();
  if (first.authorization === undefined && first.certificate === undefined) {
    throw new KubeconfigError(
      `the user of the context ${kubeconfig.context} has no usable credentials: add a token, a client certificate or a plugin`,
    );
  }
  return {
    url: server,
    caPem: caFile === undefined ? decoded(caData) : () => readFileSync(caFile, 'utf8'),
    serverName: tlsServerName,
    credentials: {
      authorization: async () => (await cache.current()).authorization,
      rejected: cache.invalidate,
    },
    clientCertificate: cache.certificate,
    namespace: kubeconfig.namespace,
  };
}

type Kubeconfig = {
  readonly context: string;
  readonly namespace: string | undefined;
  readonly cluster: Cluster;
  readonly user: User;
  /** The user with a placeholder HTTPS server: the package returns no credentials for a server with plain HTTP. */
  readonly authenticator: KubeConfig;
};

async function readKubeconfig({ context, file }: KubeconfigOptions): Promise<Kubeconfig> {
  const { KubeConfig } = await import('@kubernetes/client-node');
  const config = new KubeConfig();
  try {
    if (file === undefined) config.loadFromDefault();
    else config.loadFromFile(file);
  } catch {
    // The parser's error quotes the file.
    throw new KubeconfigError(`${file ?? 'the kubeconfig'} is missing or is not a valid kubeconfig`);
  }
  if (context !== undefined) config.setCurrentContext(context);
  const { cluster, user } = assertSupported(config);
  const authenticator = new KubeConfig();
  const placeholder = { name: 'placeholder', server: 'https://placeholder.invalid', skipTLSVerify: false };
  authenticator.loadFromClusterAndUser(placeholder, user);
  const name = nameOf(config);
  return { context: name, namespace: config.getContextObject(name)?.namespace, cluster, user, authenticator };
}

/** Refuses the settings that would weaken or silently lose protection. */
function assertSupported(config: KubeConfig): Pick<Kubeconfig, 'cluster' | 'user'> {
  const name = nameOf(config);
  const cluster = config.getCurrentCluster();
  const user = config.getCurrentUser();
  if (cluster === null)
    throw new KubeconfigError(`there is no context '${name}' with a cluster: choose another context`);
  if (user === null) throw new KubeconfigError(`there is no context '${name}' with a user: choose another context`);
  if (cluster.server === 'http://localhost:8080' && name === 'loaded-context') {
    throw new KubeconfigError('there is no kubeconfig: pass a file or set KUBECONFIG');
  }
  if (cluster.skipTLSVerify) {
    throw new KubeconfigError(
      `the cluster ${cluster.name} sets insecure-skip-tls-verify, so that any server could receive the credentials: set certificate-authority instead`,
    );
  }
  if (cluster.proxyUrl !== undefined) {
    throw new KubeconfigError(`the cluster ${cluster.name} sets proxy-url, which is not supported: use a tunnel`);
  }
  if (isGiven(user.impersonateUser)) {
    throw new KubeconfigError(
      `the context ${name} impersonates a user, which is not supported: use a context of that user`,
    );
  }
  return { cluster, user };
}

function nameOf(config: KubeConfig): string {
  return config.getCurrentContext() ?? '';
}

type CredentialCache = {
  /** Rejects with a KubeconfigError when a plugin fails. */
  current(): Promise<UserCredentials>;
  /** The newest client certificate. */
  certificate(): ClientCertificate | undefined;
  invalidate: NonNullable<Credentials['rejected']>;
};

function cacheCredentials(first: Kubeconfig, readAgain: () => Promise<Kubeconfig>): CredentialCache {
  let kubeconfig: Kubeconfig | undefined = first;
  let newest: UserCredentials | undefined;
  let loadedAt = Number.NEGATIVE_INFINITY;
  let loading: Promise<UserCredentials> | undefined;

  async function load(): Promise<UserCredentials> {
    kubeconfig ??= await readAgain();
    newest = await credentialsOf(kubeconfig);
    loadedAt = performance.now();
    return newest;
  }

  return {
    current() {
      if (newest !== undefined && performance.now() - loadedAt < cacheMs) return Promise.resolve(newest);
      loading ??= load().finally(() => {
        loading = undefined;
      });
      return loading;
    },
    certificate: () => newest?.certificate,
    invalidate() {
      // The package caches the result of a plugin until it expires; only reading the kubeconfig again runs the plugin.
      if (performance.now() - loadedAt < 1_000) return;
      kubeconfig = undefined;
      loadedAt = Number.NEGATIVE_INFINITY;
    },
  };
}

async function credentialsOf({ context, user, authenticator }: Kubeconfig): Promise<UserCredentials> {
  const options: RequestOptions = {};
  try {
    await authenticator.applyToHTTPSOptions(options);
  } catch {
    // The plugin's error quotes its output, which may contain a credential.
    throw new KubeconfigError(
      `the credentials of the context ${context} cannot be loaded: run its plugin by hand, or check its files`,
    );
  }
  const { cert, key } = options;
  return {
    authorization: authorizationOf(options, user),
    certificate: isGiven(cert) && isGiven(key) ? { cert: String(cert), key: String(key) } : undefined,
  };
}

function authorizationOf({ headers }: RequestOptions, user: User): string | undefined {
  const header = headers !== undefined && 'Authorization' in headers ? headers['Authorization'] : undefined;
  if (typeof header === 'string') return header.trim();
  if (!isGiven(user.username)) return undefined;
  return `Basic ${Buffer.from(`${user.username}:${user.password ?? ''}`).toString('base64')}`;
}

/** The package represents an absent member as null or undefined. */
function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

function decoded(base64: string | undefined): string | undefined {
  return base64 === undefined ? undefined : Buffer.from(base64, 'base64').toString('utf8');
}
