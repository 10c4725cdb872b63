import type { TraceExport } from '#kit/trace/export-spans';
import type { RelationsAccess } from '#relations/adapters/await-relations';

type HostPort = { readonly host: string; readonly port: number };

/** The retrieval service whose collections resources declare. */
export type RetrievalAccess = {
  /** The internal address of the retrieval service. */
  readonly url: URL;
  readonly tokenFile: string;
  /** Tenants whose collections resources may declare; `*` means all. */
  readonly tenants: readonly string[];
};

/** Settings that the operator passes to agent processes. */
export type AgentAccess = {
  /** Address of agents for clients. */
  readonly publicUrl: URL;
  /** The gateway that calls agents and identifies their runs; absent where headers name the callers of agents. */
  readonly gateway: { readonly url: URL; readonly issuer: string } | undefined;
  /** The services that flows call; a service that is not installed is absent. */
  readonly retrieval: URL | undefined;
  readonly memory: URL | undefined;
  /** Issuer of references to files in the data directory; absent where agents read no files. */
  readonly filesIssuer: string | undefined;
  /** The gateway of the models that flows name; absent without such a gateway. */
  readonly modelGateway: { readonly url: URL; readonly tokenFile: string } | undefined;
  /** The collector of the spans of agents; absent if spans are not recorded. */
  readonly traces: TraceExport | undefined;
};

/** The store of relations that holds the rights on agents. */
export type AuthorityAccess = RelationsAccess & {
  /** Issuer of the tokens that the gateways sign for agents. */
  readonly issuer: string;
  /** Whom agents admit over MCP: R1 listed confirmers, R2 every caller with the right invoke. */
  readonly exposure: 'R1' | 'R2';
};

/** Settings of the operator for both modes, standalone and cluster. */
export type SharedConfig = {
  readonly listen: HostPort;
  readonly namespace: string;
  readonly progressDeadlineMs: number;
  readonly maxStreamMs: number;
  readonly build: string | undefined;
  /** Access to the retrieval service; absent if the installation has none. */
  readonly retrieval: RetrievalAccess | undefined;
  /** Settings of the rights on agents; absent if they are not managed. */
  readonly authority: AuthorityAccess | undefined;
};

export type StandaloneConfig = SharedConfig & {
  readonly mode: 'standalone';
  /** Settings of agents; absent if the installation does not run agents. */
  readonly agents: AgentAccess | undefined;
  /** The collector of the spans of runtimes; absent if spans are not recorded. */
  readonly traces: TraceExport | undefined;
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
  /** Whether the API server names the users who make changes. */
  readonly namesUsers: boolean;
};

export type OperatorConfig = StandaloneConfig | ClusterConfig;
