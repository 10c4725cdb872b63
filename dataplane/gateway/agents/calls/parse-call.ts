/** Protocols of a version, as its route names them. */
export type CallMode = 'A2A' | 'MCP';

/** One operation of an agent. `name` is the name of the operation in workload tokens, except for the card. */
export type AgentOperation = {
  readonly name: string;
  readonly mode: CallMode;
  readonly methods: readonly string[];
  /** Whether the operation starts a run of the flow. */
  readonly isRun: boolean;
  /** Whether a share of the calls goes to the version on trial; tasks and sessions belong to the served version. */
  readonly mayTrial: boolean;
};

/** A request for an agent, read from its method and its target alone. */
export type RoutedCall = {
  readonly agentId: string;
  /** The id of the version in the path; undefined for a path without a version. */
  readonly versionId: string | undefined;
  readonly operation: AgentOperation;
  /** The path at the process of the version. It is built from the parsed parts of the request path, not copied. */
  readonly path: string;
};

const a2a = (name: string, methods: readonly string[], more: Partial<AgentOperation> = {}): AgentOperation => ({
  name,
  mode: 'A2A',
  methods,
  isRun: false,
  mayTrial: false,
  ...more,
});
const run = { isRun: true, mayTrial: true } as const;

export const cardOperation = a2a('card', ['GET', 'HEAD'], { mayTrial: true });
/** The operation that reads the traces of runs: those of the caller or, for the owner of the agent, all. */
export const runsOperation = a2a('runs', ['GET']);
const mcpOperation: AgentOperation = {
  name: 'mcp',
  mode: 'MCP',
  methods: ['POST', 'DELETE'],
  isRun: true,
  mayTrial: false,
};

const uuid = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const id = '(?!\\.{1,2}(?:[/:]|$))([A-Za-z0-9._~-]{1,128})';
const rows: readonly (readonly [RegExp, AgentOperation])[] = [
  [/^\/\.well-known\/agent-card\.json$/, cardOperation],
  [/^\/mcp$/, mcpOperation],
  [/^\/message:send$/, a2a('message:send', ['POST'], run)],
  [/^\/message:stream$/, a2a('message:stream', ['POST'], run)],
  [/^\/tasks$/, a2a('tasks:list', ['GET'])],
  [new RegExp(`^/tasks/${id}$`), a2a('tasks:get', ['GET'])],
  [new RegExp(`^/tasks/${id}:cancel$`), a2a('tasks:cancel', ['POST'])],
  [new RegExp(`^/tasks/${id}:subscribe$`), a2a('tasks:subscribe', ['GET', 'POST'])],
  [new RegExp(`^/tasks/${id}/pushNotificationConfigs$`), a2a('tasks:push', ['GET', 'POST'])],
  [new RegExp(`^/tasks/${id}/pushNotificationConfigs/${id}$`), a2a('tasks:push', ['GET', 'DELETE'])],
  [/^\/extendedAgentCard$/, a2a('card:extended', ['GET'])],
  [new RegExp(`^/runs(?:/${uuid})?$`), runsOperation],
];

/** Every name of an operation, for metrics and log lines. */
export const agentOperationNames: readonly string[] = [...new Set(rows.map(([, { name }]) => name)), 'unknown'];

const target = new RegExp(`^/agents/(${uuid})(?:/versions/(${uuid}))?(/.*)$`);

/**
 * Reads the path of a call. Only the forms above are paths of agents: nothing is decoded except the colon of a custom
 * verb, and a path with dots, empty segments or other escapes is not accepted (`agent-gateway:override:parameter`).
 * @returns undefined if there is no such path
 */
export function parseCall(url: string): RoutedCall | undefined {
  const end = url.indexOf('?');
  const pathname = (end < 0 ? url : url.slice(0, end)).replace(/%3a/gi, ':');
  const found = target.exec(pathname);
  if (found === null) return undefined;
  const [, agentId = '', versionId, path = ''] = found;
  const operation = rows.find(([form]) => form.test(path))?.[1];
  return operation === undefined ? undefined : { agentId, versionId, operation, path };
}

/** The call as its method makes it: a DELETE ends a session of MCP and starts no run. */
export function callByMethod(call: RoutedCall, method: string): RoutedCall {
  return method === 'DELETE' && call.operation.isRun
    ? { ...call, operation: { ...call.operation, isRun: false } }
    : call;
}

/** Parameters of A2A that are sent to the process of a version; all others are dropped. */
const queryNames: ReadonlySet<string> = new Set([
  'contextId',
  'status',
  'pageSize',
  'pageToken',
  'historyLength',
  'statusTimestampAfter',
  'includeArtifacts',
  'A2A-Version',
]);
const maxQuery = 4_096;

/**
 * The query that is sent to the process, with its question mark; empty without a query.
 * @returns undefined for a query that is too long, or that repeats a parameter
 */
export function forwardedQuery(url: string): string | undefined {
  const at = url.indexOf('?');
  if (at < 0) return '';
  if (url.length - at > maxQuery) return undefined;
  const kept = new URLSearchParams();
  for (const [name, value] of new URLSearchParams(url.slice(at + 1))) {
    if (!queryNames.has(name)) continue;
    if (kept.has(name)) return undefined;
    kept.append(name, value);
  }
  const text = kept.toString();
  return text === '' ? '' : `?${text}`;
}
