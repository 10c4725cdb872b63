import { join } from 'node:path';

/** The files of one standalone platform. The processes of the platform and the command line share them. */
export type DataDirectory = Readonly<ReturnType<typeof dataDirectory>>;

/** @param root an absolute path */
export function dataDirectory(root: string) {
  const tokens = join(root, 'tokens');
  const files = join(root, 'files');
  return {
    root,
    /** The lock file: the supervisor holds its lock as long as it runs. */
    lock: join(root, 'lock'),
    /** The status file with addresses and processes, written by the supervisor. */
    status: join(root, 'status.json'),
    /** Why the last start failed, written by the supervisor; absent after a start that succeeded. */
    startFailure: join(root, 'start-failure.json'),
    /** Ports that the processes keep over restarts, written by the supervisor. */
    ports: join(root, 'ports.json'),
    /** The folder of the custom resources, which the operator owns. */
    resources: join(root, 'resources'),
    /** The folder of manifests that the operator applies when they change. */
    apply: join(root, 'apply'),
    tokens,
    apiToken: join(tokens, 'api.token'),
    /** The token for the admin addresses of gateways, which show decisions and test providers. */
    adminToken: join(tokens, 'admin.token'),
    runtimeToken: join(tokens, 'runtime.token'),
    /**
     * The token for the internal address of the retrieval service, at which the operator manages the collections of
     * resources.
     */
    retrievalToken: join(tokens, 'retrieval.token'),
    clientKeys: join(tokens, 'client.keys'),
    databasePassword: join(tokens, 'database.password'),
    /** The secret of the cursors of the agent catalogue. */
    cursorKey: join(tokens, 'cursor.key'),
    /** Encrypts the sessions of the console in the cookies of browsers. */
    cookieKey: join(tokens, 'cookie.key'),
    /** The code of the next sign-in to the console. */
    signInCode: join(tokens, 'sign-in.code'),
    signingKeys: join(tokens, 'signing.keys'),
    /** The keys of the gateway that sign the identities of agents. */
    agentKeys: join(tokens, 'agent.keys'),
    /** The keys with which the command line signs references to files. */
    fileKeys: join(tokens, 'file.keys'),
    /** The public keys of the file service, as JWKS, written at each start. */
    fileKeySet: join(files, 'keys.json'),
    /** The folder from which agents read referenced files (docs/design/file-references.md, "The folder"). */
    files,
    /** The stored files, each with its description. */
    storedFiles: join(files, 'files'),
    /** The folder of provider credentials, with one file for each credential. */
    secrets: join(root, 'secrets'),
    providers: join(root, 'providers.yaml'),
    /** The outside services that flows of agents may call. */
    connections: join(root, 'connections.yaml'),
    /** The approved profiles of models for retrieval. */
    models: join(root, 'models.yaml'),
    /** Marks that the example collection was loaded, so that no later start loads it again. */
    handbook: join(root, 'handbook-loaded'),
    /** Marks that the example of an agent was copied to the watched folder. */
    exampleAgent: join(root, 'agent-loaded'),
    /** The marker file of the example agent that answers from the example collection. */
    exampleHandbookAgent: join(root, 'handbook-agent-loaded'),
    issuers: join(root, 'issuers.yaml'),
    limits: join(root, 'limits.yaml'),
    /** The policies that services call directly. */
    servedPolicies: join(root, 'served-policies.yaml'),
    /** The folder of the targets of served policies, one file for each target, which the services read. */
    served: join(root, 'served'),
    servedTarget: (name: string): string => join(root, 'served', `${name}.json`),
    /** The folder of the operator's records about them. */
    servedPins: join(root, 'served-pins'),
    bundles: join(root, 'bundles'),
    /** The folder of measured figures of patterns, which shorten the next validation of a bundle. */
    judging: join(root, 'judging'),
    /** The folder of notes about running processes; a note is useless after its process has exited. */
    run: join(root, 'run'),
    /** The issuers of the agents that call the service of this name, written at each start. */
    agentIssuers: (service: string): string => join(root, 'run', `${service}-issuers.yaml`),
    logs: join(root, 'logs'),
    /** The folder of documents that wait for ingestion. */
    staging: join(root, 'staging'),
    /** The folder of the embedded database. */
    postgres: join(root, 'postgres'),
  };
}
