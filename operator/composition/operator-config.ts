type HostPort = { readonly host: string; readonly port: number };

/** The retrieval service whose collections resources declare. */
export type RetrievalAccess = {
  /** Its internal address. */
  readonly url: URL;
  readonly tokenFile: string;
  /** Tenants whose collections resources may declare; `*` stands for all. */
  readonly tenants: readonly string[];
};

/** Settings of both modes. */
export type SharedConfig = {
  readonly listen: HostPort;
  readonly namespace: string;
  readonly progressDeadlineMs: number;
  readonly maxStreamMs: number;
  readonly build: string | undefined;
  /** Absent where the installation has no retrieval service. */
  readonly retrieval: RetrievalAccess | undefined;
};

export type StandaloneConfig = SharedConfig & {
  readonly mode: 'standalone';
  readonly dataDirectory: string;
  readonly apiListen: HostPort;
};

export type ClusterConfig = SharedConfig & {
  readonly mode: 'cluster';
  readonly api:
    | { readonly kind: 'kubeconfig'; readonly file: string }
    | {
        readonly kind: 'mounted';
        readonly url: string;
        readonly tokenFile: string;
        readonly caFile: string | undefined;
      };
  readonly environmentDirectory: string;
  readonly runtimeTokenFile: string;
  readonly secretsDirectory: string;
  readonly cacheDirectory: string | undefined;
  readonly replica: string;
  readonly leaseName: string;
};

export type OperatorConfig = StandaloneConfig | ClusterConfig;
