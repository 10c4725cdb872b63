import { readFileSync } from 'node:fs';
import type { RequestOptions } from 'node:https';
import type { Cluster, KubeConfig, User } from '@kubernetes/client-node';
import type { ClientCertificate, ClusterAccess, Credentials } from './cluster-access.ts';

/** A kubeconfig that gives no access. The message names contexts, clusters and users, never a credential. */
export class KubeconfigError extends Error {
  override readonly name = 'KubeconfigError';
}

export type KubeconfigOptions = {
  /** Name of a context; the current one when absent. */
  readonly context?: string | undefined;
  /** Path of a kubeconfig; when absent those that KUBECONFIG names, else the one of the home folder. */
  readonly file?: string | undefined;
};

/** What the user of a context proves itself with at this time. */
type Proof = {
  readonly authorization: string | undefined;
  readonly certificate: ClientCertificate | undefined;
};

/** How long a proof is used before the package is asked again, which runs a plugin only when its answer has expired. */
const proofMs = 10_000;

/**
 * Access by a kubeconfig: tokens, basic authentication, client certificates, and plugins, which are run. When the
 * server refuses, the files are read again. Loads the Kubernetes client package, as no process of the data plane does.
 * @throws KubeconfigError where there is no such context, where its user proves nothing, or where it asks for what
 *   would otherwise silently be left out: impersonation, a proxy, a server whose certificate is not checked
 */
export async function loadKubeconfig(options: KubeconfigOptions = {}): Promise<ClusterAccess> {
  const kubeconfig = await readKubeconfig(options);
  const { caFile, caData, server, tlsServerName } = kubeconfig.cluster;
  const proofs = keepProofs(kubeconfig, () => readKubeconfig(options));
  const first = await proofs.now();
  if (first.authorization === undefined && first.certificate === undefined) {
    throw new KubeconfigError(`the user of the context ${kubeconfig.context} has no credentials that can be sent`);
  }
  return {
    url: server,
    caPem: caFile === undefined ? decoded(caData) : () => readFileSync(caFile, 'utf8'),
    serverName: tlsServerName,
    credentials: {
      authorization: async () => (await proofs.now()).authorization,
      refused: proofs.drop,
    },
    clientCertificate: proofs.certificate,
    namespace: kubeconfig.namespace,
  };
}

type Kubeconfig = {
  readonly context: string;
  readonly namespace: string | undefined;
  readonly cluster: Cluster;
  readonly user: User;
  /** The user before a server that nobody calls: the package proves nothing to one that speaks plain HTTP. */
  readonly prover: KubeConfig;
};

async function readKubeconfig({ context, file }: KubeconfigOptions): Promise<Kubeconfig> {
  const { KubeConfig } = await import('@kubernetes/client-node');
  const config = new KubeConfig();
  try {
    if (file === undefined) config.loadFromDefault();
    else config.loadFromFile(file);
  } catch {
    // The error of a parser holds a piece of the file.
    throw new KubeconfigError(`${file ?? 'the kubeconfig'} cannot be read: it must be there and be a kubeconfig`);
  }
  if (context !== undefined) config.setCurrentContext(context);
  const { cluster, user } = assertSpoken(config);
  const prover = new KubeConfig();
  prover.loadFromClusterAndUser({ name: 'prover', server: 'https://prover.invalid', skipTLSVerify: false }, user);
  const name = nameOf(config);
  return { context: name, namespace: config.getContextObject(name)?.namespace, cluster, user, prover };
}

/** What the package leaves out or weakens is refused. */
function assertSpoken(config: KubeConfig): Pick<Kubeconfig, 'cluster' | 'user'> {
  const name = nameOf(config);
  const cluster = config.getCurrentCluster();
  const user = config.getCurrentUser();
  if (cluster === null) throw new KubeconfigError(`there is no context '${name}' with a cluster: choose another one`);
  if (user === null) throw new KubeconfigError(`there is no context '${name}' with a user: choose another one`);
  if (cluster.server === 'http://localhost:8080' && name === 'loaded-context') {
    throw new KubeconfigError('there is no kubeconfig: name a file, or set KUBECONFIG');
  }
  if (cluster.skipTLSVerify) {
    throw new KubeconfigError(
      `the cluster ${cluster.name} skips the check of its certificate, and credentials would go to anybody: give its certificate-authority`,
    );
  }
  if (cluster.proxyUrl !== undefined) {
    throw new KubeconfigError(`the cluster ${cluster.name} is behind a proxy-url, which is not spoken: use a tunnel`);
  }
  if (isGiven(user.impersonateUser)) {
    throw new KubeconfigError(`the context ${name} acts as another user, which is not spoken: use that user's own`);
  }
  return { cluster, user };
}

function nameOf(config: KubeConfig): string {
  return config.getCurrentContext() ?? '';
}

type Proofs = {
  /** Rejects with a KubeconfigError where a plugin fails. */
  now(): Promise<Proof>;
  /** The certificate of the newest proof. */
  certificate(): ClientCertificate | undefined;
  drop: NonNullable<Credentials['refused']>;
};

function keepProofs(first: Kubeconfig, readAgain: () => Promise<Kubeconfig>): Proofs {
  let kubeconfig: Kubeconfig | undefined = first;
  let newest: Proof | undefined;
  let askedAt = Number.NEGATIVE_INFINITY;
  let asking: Promise<Proof> | undefined;

  async function ask(): Promise<Proof> {
    kubeconfig ??= await readAgain();
    newest = await proofOf(kubeconfig);
    askedAt = performance.now();
    return newest;
  }

  return {
    now() {
      if (newest !== undefined && performance.now() - askedAt < proofMs) return Promise.resolve(newest);
      asking ??= ask().finally(() => {
        asking = undefined;
      });
      return asking;
    },
    certificate: () => newest?.certificate,
    drop() {
      // The package keeps what a plugin said until it expires; only a new reading asks the plugin again.
      if (performance.now() - askedAt < 1_000) return;
      kubeconfig = undefined;
      askedAt = Number.NEGATIVE_INFINITY;
    },
  };
}

async function proofOf({ context, user, prover }: Kubeconfig): Promise<Proof> {
  const options: RequestOptions = {};
  try {
    await prover.applyToHTTPSOptions(options);
  } catch {
    // The error of a plugin holds what it wrote, which may be anything.
    throw new KubeconfigError(
      `the credentials of the context ${context} cannot be had: run its plugin by hand, or look at its files`,
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

/** The package says both null and undefined of what a file does not hold. */
function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

function decoded(base64: string | undefined): string | undefined {
  return base64 === undefined ? undefined : Buffer.from(base64, 'base64').toString('utf8');
}
