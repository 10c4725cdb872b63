import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { v4 as uuid } from 'uuid';
import type { AgentBundle } from '#contracts/agent-bundle';
import { openGatewayKeyRing } from '#identity/gateway-key-ring';
import { ensureGatewayKeys } from '#identity/gateway-keys';
import { mintServiceToken, serviceAudiences } from '#identity/service-token';
import { createTestKey, signText } from '#identity/testing/test-issuer';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import type { AgentRoute, RoutedVersion } from '#resources/agent-route';
import { checkout } from '../../cli/platform/data-directory.ts';
import { agentBundle } from '../../dataplane/agents/testing/agent-bundle.ts';
import { startAgent } from '../../dataplane/agents/testing/start-agent.ts';
import { createGatewayService } from '../../dataplane/gateway/service.ts';
import { type OpenedMemory, openMemory } from '../../dataplane/memory/testing/open-memory.ts';
import { type OpenedRetrieval, openRetrieval } from '../../dataplane/retrieval/testing/open-retrieval.ts';

type StartOptions = NonNullable<Parameters<typeof startAgent>[0]>;
type Requires = RoutedVersion['requires'];

export const grantIssuer = 'https://gateway.example';
export const ann = { issuer: 'https://people.example', subject: 'ann' };
const tenant = 'acme';
const kinds = {
  memory: 'Memory',
  collection: 'Collection',
  agent: 'Agent',
  model: 'Model',
  connection: 'Connection',
  mcp: 'Mcp',
  policy: 'Policy',
} as const;

type AddOptions = Pick<StartOptions, 'config' | 'fileServiceToken' | 'policy'> & {
  readonly name: string;
  readonly agentId?: string;
  readonly bundle: Partial<AgentBundle>;
  readonly flow?: Json;
  /** Targets for which the route allows runs to request tokens; if absent, all targets that the version requires. */
  readonly routed?: Requires;
  /** The budget of a run in the route of the version. */
  readonly budget?: RoutedVersion['limits']['budget'];
};

type StartGranted = {
  /** The entries of connections.yaml, which the gateway reads. */
  readonly connections?: readonly object[];
  /** Credentials by their names. */
  readonly credentials?: Readonly<Record<string, string>>;
  /** A collector, which gets the spans of the gateway and of every agent. */
  readonly traces?: URL;
  /** The model gateway of the agents. */
  readonly modelGateway?: URL;
};

export type GrantedAgents = AsyncDisposable & {
  readonly gateway: string;
  readonly memory: OpenedMemory;
  readonly retrieval: OpenedRetrieval;
  /** Rights that callers do not have, as `SUBJECT RELATION OBJECT`; callers have all other rights. */
  readonly missingRights: Set<string>;
  /** Starts the process of a version and routes it. @returns the id of the agent */
  add(options: AddOptions): Promise<string>;
  /** Sends a message of `ann` to an agent, through the gateway. */
  send(
    agentId: string,
    parts: readonly object[],
    contextId?: string,
    headers?: Readonly<Record<string, string>>,
  ): Promise<{ readonly status: number; readonly json: Json; readonly headers: Headers }>;
  /** The header with a token of `ann` for the gateway. */
  bearer(): Promise<string>;
  /** A token with which `ann` and an agent call a service. */
  serviceToken(service: keyof typeof serviceAudiences): Promise<string>;
};
type Json = Readonly<Record<string, unknown>>;

/** The flow and the manifest of an example. */
export function exampleSources(name: string): Pick<AgentBundle, 'flow' | 'manifest'> {
  const read = (file: string): string => readFileSync(join(checkout, 'examples/agents', name, file), 'utf8');
  return { flow: read('flow.yaml'), manifest: read('manifest.yaml') };
}

/**
 * Starts the gateway, the memory service and the retrieval service of one installation, all of which identify people by
 * tokens of their issuer and agents by tokens of the gateway.
 */
export async function startGrantedAgents(options: StartGranted = {}): Promise<GrantedAgents> {
  await using parts = new AsyncDisposableStack();
  const folder = parts.use(temporaryFolder()).path;
  const file = (name: string, content: string): string => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const signingKeysFile = join(folder, 'gateway-keys.json');
  await ensureGatewayKeys(signingKeysFile);
  const keys = openGatewayKeyRing(signingKeysFile);
  const people = await createTestKey('EdDSA', 'people-1');
  file('people.json', JSON.stringify({ keys: [people.jwk] }));
  const keysFile = file('gateway.json', JSON.stringify(await keys.publicKeySet()));
  const trusting = (service: keyof typeof serviceAudiences) => ({
    mode: 'production' as const,
    issuersFile: file(
      `${service}.yaml`,
      `issuers:\n  - { issuer: "${grantIssuer}", audience: "${serviceAudiences[service]}", jwksFile: gateway.json, subjectIssuerClaim: sub_iss, tenantsClaim: tenants, groupsClaim: groups }\n`,
    ),
  });
  const memory = parts.use(await openMemory({ config: { identity: trusting('memory') } }));
  const retrieval = parts.use(await openRetrieval({ config: { identity: trusting('retrieval') } }));
  const traces = options.traces && { url: options.traces, tokenFile: undefined };
  const missingRights = new Set<string>();
  const routes = agentRoutes();
  const token = file('runtime.token', 'runtime-token\n');
  for (const [name, content] of Object.entries(options.credentials ?? {})) file(name, `${content}\n`);
  const gateway = parts.use(
    await createGatewayService(
      {
        api: { url: new URL('http://127.0.0.1:1'), tokenFile: token, caFile: undefined, namespace: 'default' },
        gateway: 'default',
        replica: 'gateway-test',
        podUid: undefined,
        listen: { host: '127.0.0.1', port: 0 },
        adminListen: { host: '127.0.0.1', port: 0 },
        clients: { auth: 'open' },
        maxRequestMs: 60_000,
        maxChecksPerAddress: 32,
        streamIdleMs: 30_000,
        maxHeldBytes: 256 * 1_048_576,
        logLevel: 'error',
        agents: {
          issuer: grantIssuer,
          signingKeysFile,
          identity: {
            mode: 'production',
            issuersFile: file(
              'people.yaml',
              `issuers:\n  - { issuer: "${ann.issuer}", audience: agents, jwksFile: people.json, tenants: [${tenant}] }\n`,
            ),
          },
          rights: {
            databaseUrl: memory.database.url,
            databasePasswordFile: memory.database.passwordFile,
            relations: { kind: 'postgres' },
            openFgaTokenFile: undefined,
          },
          confirmers: [],
          connectionsFile:
            options.connections === undefined
              ? undefined
              : file('connections.yaml', JSON.stringify({ connections: options.connections })),
          runs: { atOnce: 16, perMinute: 6_000 },
          budgets: undefined,
        },
        ...(traces === undefined ? {} : { traces }),
      },
      { runtimeTokenFile: token, credentialsDirectory: folder },
      {
        routes: () => ({
          synced: Promise.resolve(),
          throughVersion: () => '1',
          [Symbol.asyncDispose]: async () => undefined,
        }),
        agentRoutes: routes.open,
        reports: { write: async () => undefined },
        rights: {
          check: async (...asked) => !missingRights.has(asked.slice(0, 3).join(' ')),
          checkerOf:
            (subject) =>
            async (...asked) =>
              !missingRights.has([subject, ...asked].join(' ')),
        },
        idleMs: 0,
      },
    ),
  );
  const bearer = async (): Promise<string> => {
    const now = Math.floor(Date.now() / 1_000);
    const claims = { iss: ann.issuer, aud: 'agents', sub: ann.subject, iat: now, exp: now + 300 };
    return `Bearer ${await signText(people, JSON.stringify(claims), { typ: 'at+jwt' })}`;
  };
  const owned = parts.move();
  return {
    gateway: gateway.url,
    bearer,
    memory,
    retrieval,
    missingRights,
    async add({ name, agentId = uuid(), bundle, flow, routed, budget, ...given }) {
      const versionId = uuid();
      const complete = agentBundle({
        ...(flow === undefined ? {} : { flow }),
        bundle: { ...bundle, agentId, versionId },
      });
      const agent = owned.use(
        await startAgent({
          ...given,
          bundle: complete,
          config: {
            ...given.config,
            traces,
            identity: { mode: 'production', issuer: grantIssuer, keys: { file: keysFile } },
          },
          services: {
            agentGateway: new URL(gateway.url),
            retrieval: new URL(retrieval.url),
            memory: new URL(memory.url),
            modelGateway: options.modelGateway,
          },
        }),
      );
      const requires = complete.requires.map(({ kind, name: required }) => ({
        kind: kinds[kind as keyof typeof kinds],
        name: required,
      }));
      const { cardDigest } = (await (await fetch(`${agent.adminUrl}/state`)).json()) as { cardDigest: string };
      routes.put({ name, agentId, versionId, cardDigest, address: agent.url, requires: routed ?? requires, budget });
      await until(`the gateway serves ${name}`, async () => {
        const headers = { authorization: await bearer(), 'a2a-version': '1.0' };
        const answer = await fetch(`${gateway.url}/agents/${agentId}/tasks`, { headers });
        if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`);
        return true;
      });
      return agentId;
    },
    async send(agentId, given, contextId = 'session-1', headers = {}) {
      const answer = await fetch(`${gateway.url}/agents/${agentId}/message:send`, {
        method: 'POST',
        headers: {
          authorization: await bearer(),
          'a2a-version': '1.0',
          'content-type': 'application/json',
          ...headers,
        },
        body: JSON.stringify({ message: { messageId: uuid(), role: 'ROLE_USER', contextId, parts: given } }),
      });
      return { status: answer.status, json: (await answer.json()) as Json, headers: answer.headers };
    },
    async serviceToken(service) {
      const key = await keys.signingKey();
      const person = { subject: ann, actors: [], tenant, groups: ['staff'] };
      const audience = serviceAudiences[service];
      const call = { key, issuer: grantIssuer, audience, agentId: 'setup', versionId: 'setup', ttlSeconds: 60 };
      return await mintServiceToken({ ...call, ...person });
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

type Routed = Pick<RoutedVersion, 'versionId' | 'cardDigest' | 'address' | 'requires'> & {
  readonly name: string;
  readonly agentId: string;
  readonly budget: RoutedVersion['limits']['budget'] | undefined;
};

const usualBudget = { nodes: 1_000, modelTokens: 100_000, outputBytes: 1_048_576 };

/** Routes of agents that a test writes. */
function agentRoutes() {
  type Open = NonNullable<NonNullable<Parameters<typeof createGatewayService>[2]>['agentRoutes']>;
  const listeners: Parameters<Open>[0][] = [];
  let version = 1;
  const open: Open = (listener) => {
    listeners.push(listener);
    return {
      synced: Promise.resolve(),
      throughVersion: () => `${version}`,
      [Symbol.asyncDispose]: async () => undefined,
    };
  };
  return {
    open,
    put({ name, agentId, versionId, cardDigest, address, requires, budget = usualBudget }: Routed): void {
      version += 1;
      const limits = { requestBytes: 16_384, timeoutMs: 20_000, concurrency: 4, budget };
      const spec: AgentRoute['spec'] = {
        formatVersion: 1,
        agentId,
        agent: { name, uid: agentId },
        served: versionId,
        versions: [{ versionId, version: `${name}-1`, modes: ['A2A'], address, cardDigest, requires, limits }],
        cards: 'View',
        exposure: 'R2',
      };
      const metadata = {
        name,
        uid: uuid(),
        resourceVersion: `${version}`,
        generation: 1,
        creationTimestamp: '2026-01-02T03:04:05Z',
      };
      for (const listener of listeners) {
        listener.onChange(name, { apiVersion: 'portcullis.dev/v1', kind: 'AgentRoute', metadata, spec } as never);
      }
    },
  };
}
