import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SignJWT } from 'jose';
import type { AgentBundle } from '#contracts/agent-bundle';
import { digestOf } from '#contracts/canonical';
import { ensureGatewayKeys, gatewayKeySet, readGatewayKeys } from '#identity/gateway-keys';
import { createTestKey, startJwksServer } from '#identity/testing/test-issuer';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { openPostgresRelations } from '#relations/adapters/postgres/postgres-relations';
import type { Relations } from '#relations/ports';
import { userSubject } from '#relations/subject';
import { type AgentRoute, type AgentRouteSpec, agentRouteFormat, type RoutedVersion } from '#resources/agent-route';
import type { GatewayReport } from '#resources/gateway-report';
import { apiVersion, kinds } from '#resources/kinds';
import { openSharedServer } from '#sql/testing/shared-server';
import { type GuardedGateway, startGuardedGateway } from '../support/start-guarded-gateway.ts';
import { type RunningProcess, startProcess } from '../support/start-process.ts';

const gatewayIssuer = 'https://gateway.example';
const peopleIssuer = 'https://people.example';

export type AgentGateway = AsyncDisposable & {
  /** Origin for clients. */
  readonly url: string;
  readonly platform: GuardedGateway;
  readonly relations: Relations;
  /** The file with the signing keys of the gateway. */
  readonly signingKeysFile: string;
  /** A token of the OIDC issuer for a person; `more` adds claims. */
  personToken(subject: string, more?: Readonly<Record<string, unknown>>): Promise<string>;
  /** Grants the right to a person. */
  allow(subject: string, right: 'invoke' | 'view', agentId: string): Promise<void>;
  /**
   * Starts the process of a version, as the operator does. The process has the keys of the gateway in a file, or
   * fetches them.
   */
  startVersion(
    bundle: AgentBundle,
    keys?: 'in a file' | 'fetched',
  ): Promise<RoutedVersion & { readonly process: RunningProcess }>;
  /** Writes the route of an agent and waits until the replica has loaded it. */
  serve(route: RoutedAgent): Promise<void>;
  /** Calls the gateway below /agents/ with the token of a person. */
  call(path: string, init: AgentRequest): Promise<Response>;
};
type RoutedAgent = Partial<AgentRouteSpec> & Pick<AgentRouteSpec, 'agentId' | 'versions'> & { readonly name: string };
type AgentRequest = {
  readonly as?: string | undefined;
  readonly token?: string;
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
};

/**
 * Starts the gateway process with agents: rights in PostgreSQL, people of an OIDC issuer with its own keys, resources
 * of the operator's server, a guarded model.
 */
export async function startAgentGateway(settings: Readonly<Record<string, string>> = {}): Promise<AgentGateway> {
  await using parts = new AsyncDisposableStack();
  const folder = parts.use(temporaryFolder()).path;
  const file = (name: string, content: unknown): string => {
    writeFileSync(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content));
    return join(folder, name);
  };
  const people = await createTestKey('ES256', 'people-1');
  const issuer = parts.use(await startJwksServer(people));
  const server = parts.use(await openSharedServer());
  const database = parts.use(await server.createDatabase());
  const relations = parts.use(await openPostgresRelations(database.database));
  const signingKeysFile = join(folder, 'signing-keys.json');
  await ensureGatewayKeys(signingKeysFile);
  const trusted = {
    issuer: peopleIssuer,
    audience: 'agents',
    jwksUrl: issuer.url.href,
    tenantsClaim: 'tenants',
    groupsClaim: 'groups',
  };
  const platform = parts.use(
    await startGuardedGateway({
      environment: {
        PORTCULLIS_AGENT_ISSUER: gatewayIssuer,
        PORTCULLIS_AGENT_SIGNING_KEYS_FILE: signingKeysFile,
        PORTCULLIS_ISSUERS_FILE: file('issuers.yaml', JSON.stringify({ issuers: [trusted] })),
        PORTCULLIS_DATABASE_URL: database.url,
        PORTCULLIS_DATABASE_PASSWORD_FILE: database.passwordFile,
        PORTCULLIS_MCP_CONFIRMERS: `${peopleIssuer}|ann`,
        ...settings,
      },
    }),
  );
  const personToken: AgentGateway['personToken'] = (subject, more = {}) =>
    new SignJWT({ iss: peopleIssuer, aud: 'agents', sub: subject, ...more })
      .setProtectedHeader({ alg: 'ES256', kid: people.kid })
      .setIssuedAt()
      .setExpirationTime('5m')
      .sign(people.privateKey);
  const { client } = platform;

  async function serve({ name, ...more }: RoutedAgent): Promise<void> {
    const spec: AgentRouteSpec = {
      formatVersion: agentRouteFormat,
      agent: { name, uid: more.agentId },
      cards: 'View',
      exposure: 'R1',
      ...more,
    };
    const before = await client.get<AgentRoute>(kinds.agentRoute, name);
    const metadata = { name };
    if (before !== undefined) await client.delete(kinds.agentRoute, name, { uid: before.metadata.uid });
    const made = await client.create<AgentRoute>(kinds.agentRoute, { apiVersion, kind: 'AgentRoute', metadata, spec });
    await until(`the gateway serves ${name}`, async () => {
      const { items } = await client.list<GatewayReport>(kinds.gatewayReport);
      const agents = items[0]?.spec.agents;
      const isThrough = Number(agents?.appliedThrough ?? 0) >= Number(made.metadata.resourceVersion);
      return isThrough && agents?.pending.length === 0;
    });
  }

  const started = parts.use(new AsyncDisposableStack());
  let versions = 0;
  async function startVersion(bundle: AgentBundle, keys: 'in a file' | 'fetched' = 'in a file') {
    versions += 1;
    const keySet = gatewayKeySet(await readGatewayKeys(signingKeysFile), new Date());
    const keysFile = keys === 'fetched' ? {} : { PORTCULLIS_GATEWAY_KEYS_FILE: file(`jwks-${versions}.json`, keySet) };
    const process = started.use(
      await startProcess({
        file: 'dataplane/agents/main.ts',
        environment: {
          PORTCULLIS_AGENT_BUNDLE: file(`agent-${versions}.json`, bundle),
          PORTCULLIS_IDENTITY: 'production',
          PORTCULLIS_GATEWAY_ISSUER: gatewayIssuer,
          ...keysFile,
          PORTCULLIS_AGENT_GATEWAY_URL: platform.url,
          PORTCULLIS_MODEL_GATEWAY_URL: platform.url,
          PORTCULLIS_MODEL_GATEWAY_TOKEN_FILE: file('gateway.key', `${platform.key}\n`),
          PORTCULLIS_MCP_CONFIRMERS: `${peopleIssuer}|ann`,
        },
      }),
    );
    await until('the agent is ready', async () => (await fetch(`${process.url}/health/ready`)).status === 200);
    const card: unknown = await (await fetch(`${process.url}/.well-known/agent-card.json`)).json();
    const { versionId, limits, requires } = bundle;
    const budget = { nodes: 100, modelTokens: 10_000, outputBytes: 1_000_000 };
    return {
      versionId,
      version: `v${versions}`,
      modes: ['A2A', 'MCP'] as RoutedVersion['modes'],
      address: process.url,
      cardDigest: digestOf(card),
      requires: requires.map(({ kind, name }) => ({
        kind: `${kind[0]?.toUpperCase() ?? ''}${kind.slice(1)}` as RoutedVersion['requires'][number]['kind'],
        name,
      })),
      limits: { ...limits, budget },
      process,
    };
  }

  const owned = parts.move();
  return {
    url: platform.url,
    platform,
    relations,
    signingKeysFile,
    personToken,
    async allow(subject, right, agentId) {
      const tuple = {
        subject: userSubject({ issuer: peopleIssuer, subject }),
        relation: right,
        object: `agent:${agentId}`,
      };
      await relations.grant([tuple]);
    },
    startVersion,
    serve,
    async call(path, { as, token, method = 'POST', body, headers = {} }) {
      const bearer = token ?? (as === undefined ? undefined : await personToken(as));
      return await fetch(`${platform.url}/agents/${path}`, {
        method,
        headers: {
          'a2a-version': '1.0',
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
