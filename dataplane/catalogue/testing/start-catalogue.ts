import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTestKey, signText, startJwksServer } from '#identity/testing/test-issuer';
import { createLogger } from '#kit/log/logger';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { createClient } from '#kube/client/client';
import { type FakeApiServer, startFakeApiServer } from '#kube/testing/fake-api-server';
import { openRelations } from '#relations/adapters/open-relations';
import type { Relations } from '#relations/ports';
import { userSubject } from '#relations/subject';
import type { AgentRoute } from '#resources/agent-route';
import type { AgentVersion } from '#resources/agent-version';
import { kinds } from '#resources/kinds';
import { connectSql, type Database, passwordFrom } from '#sql/connect';
import type { TestDatabase } from '#sql/testing/test-server';
import type { CatalogueConfig } from '../config.ts';
import { type CatalogueOverrides, createCatalogueService } from '../service.ts';
import { type AgentSketch, resourcesOf, sketchAgent } from './agent-resources.ts';

const peopleIssuer = 'https://people.example';

type CatalogueAnswer = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: Readonly<Record<string, unknown>>;
};

export type CatalogueWorld = AsyncDisposable & {
  readonly url: string;
  readonly adminUrl: string;
  readonly database: Database;
  readonly relations: Relations;
  readonly resources: FakeApiServer;
  readonly cursorKeyFile: string;
  token(subject: string, claims?: Readonly<Record<string, unknown>>): Promise<string>;
  /** A request of a person, or with the given token. */
  ask(person: string, path: string, init?: RequestInit): Promise<CatalogueAnswer>;
  /** Creates the resources of an agent and waits until the catalogue has stored them. */
  publish(name: string, change?: Partial<AgentSketch>): Promise<AgentSketch>;
  allow(person: string, right: 'view' | 'invoke', ...agents: readonly Pick<AgentSketch, 'agentId'>[]): Promise<void>;
  forbid(person: string, right: 'view' | 'invoke', ...agents: readonly Pick<AgentSketch, 'agentId'>[]): Promise<void>;
  /** The ids on the first page of a person. */
  listed(person: string, query?: string): Promise<readonly string[]>;
  /** Everything that the service has logged. */
  log(): string;
  /** The state that is stored of an agent. */
  stored(agent: AgentSketch): Promise<string | undefined>;
};

export type CatalogueParts = {
  readonly overrides?: CatalogueOverrides;
  readonly config?: Partial<CatalogueConfig>;
  /** A server of resources that runs longer than the service; by default the service gets an empty one of its own. */
  readonly resources?: FakeApiServer;
  /** Opens the store of rights; by default the rights are in PostgreSQL. */
  readonly openRights?: (database: Database) => Promise<Relations>;
};

/** The service with PostgreSQL, rights in it or elsewhere, an OIDC issuer and a server of resources, all over HTTP. */
export async function startCatalogue(files: TestDatabase, options: CatalogueParts = {}): Promise<CatalogueWorld> {
  await using parts = new AsyncDisposableStack();
  const folder = parts.use(temporaryFolder()).path;
  const key = await createTestKey('ES256', 'people-1');
  const issuer = parts.use(await startJwksServer(key));
  const issuersFile = join(folder, 'issuers.yaml');
  const trusted = {
    issuer: peopleIssuer,
    audience: 'catalogue',
    jwksUrl: issuer.url.href,
    tenantsClaim: 'tenants',
    groupsClaim: 'groups',
  };
  writeFileSync(issuersFile, JSON.stringify({ issuers: [trusted] }));
  const [cursorKeyFile, tokenFile] = [join(folder, 'cursor.key'), join(folder, 'api.token')];
  writeFileSync(cursorKeyFile, 'a-secret-of-cursors-with-enough-characters\n');
  writeFileSync(tokenFile, 'token\n');
  const modelsFile = join(folder, 'models.yaml');
  writeFileSync(modelsFile, 'embedding:\n  - { id: words, model: words, dimension: 64 }\n');
  const lines: string[] = [];
  const logger = createLogger({
    service: 'catalogue',
    level: 'debug',
    destination: { write: (line: string) => void lines.push(line) },
  });
  const resources = options.resources ?? parts.use(await startFakeApiServer());
  const database = parts.use(
    connectSql({ url: files.url, applicationName: 'test', password: passwordFrom(files.passwordFile) }),
  );
  const { openRights = (own: Database) => openRelations({ kind: 'postgres' }, own, undefined) } = options;
  const relations = parts.use(await openRights(database));
  const listen = { host: '127.0.0.1', port: 0 };
  const service = parts.use(
    await createCatalogueService(
      {
        listen,
        adminListen: listen,
        role: 'both',
        identity: { mode: 'production', issuersFile },
        databaseUrl: files.url,
        relations: { kind: 'postgres' },
        api: { url: new URL(resources.url), tokenFile, caFile: undefined, namespace: 'default' },
        modelGateway: new URL('http://127.0.0.1:9'),
        modelsFile,
        embeddingProfile: undefined,
        indexBytes: 64 * 1_048_576,
        requests: { atOnce: 1_000, perMinute: 1_000_000 },
        events: undefined,
        guard: 'unguarded',
        massRemoval: 'pause',
        traces: undefined,
        logLevel: 'error',
        ...options.config,
      },
      {
        databasePasswordFile: files.passwordFile,
        openFgaTokenFile: undefined,
        cursorKeyFile,
        modelGatewayTokenFile: undefined,
      },
      { pollMs: 50, logger, ...(options.openRights === undefined ? {} : { relations }), ...options.overrides },
    ),
  );
  const client = parts.use(
    createClient({ url: resources.url, credentials: { authorization: () => 'Bearer token' }, namespace: 'default' }),
  );
  const url = service.url ?? '';
  await until('the catalogue is ready', async () => (await fetch(`${service.adminUrl}/readyz`)).status === 200);

  const token: CatalogueWorld['token'] = (subject, claims = {}) => {
    const now = Math.floor(Date.now() / 1_000);
    const body = { iss: peopleIssuer, aud: 'catalogue', sub: subject, iat: now, exp: now + 600, ...claims };
    return signText(key, JSON.stringify(body));
  };
  const ask: CatalogueWorld['ask'] = async (person, path, init = {}) => {
    const bearer = person.includes('.') ? person : await token(person);
    const answer = await fetch(`${url}${path}`, {
      ...init,
      headers: { authorization: `Bearer ${bearer}`, ...(init.headers as Record<string, string> | undefined) },
    });
    const text = await answer.text();
    return { status: answer.status, headers: answer.headers, text, json: text === '' ? {} : JSON.parse(text) };
  };
  const stored: CatalogueWorld['stored'] = async ({ agentId }) => {
    const [row] = await database.sql<{ state: string }[]>`
      select state from catalogue.agents where agent_id = ${agentId}::uuid`;
    return row?.state;
  };
  const tuples = (person: string, right: 'view' | 'invoke', agents: readonly Pick<AgentSketch, 'agentId'>[]) =>
    agents.map(({ agentId }) => ({
      subject: userSubject({ issuer: peopleIssuer, subject: person }),
      relation: right,
      object: `agent:${agentId}`,
    }));
  const owned = parts.move();
  return {
    url,
    adminUrl: service.adminUrl,
    database,
    relations,
    resources,
    cursorKeyFile,
    token,
    ask,
    stored,
    log: () => lines.join(''),
    async publish(name, change = {}) {
      const sketch = sketchAgent(name, change);
      const { agent, version, route } = resourcesOf(sketch);
      const stored = await client.create<AgentVersion>(kinds.agentVersion, version as never);
      // The server issues the UID, which is the id of the version.
      const published = { ...sketch, versionId: stored.metadata.uid };
      const own = resourcesOf(published);
      await client.create<AgentRoute>(kinds.agentRoute, { ...route, spec: own.route.spec } as never);
      await client.create(kinds.agent, { ...agent, status: own.agent.status } as never);
      await until(`${name} is stored`, async () => {
        const [row] = await database.sql<{ version_id: string | null }[]>`
          select version_id from catalogue.agents where agent_id = ${sketch.agentId}::uuid and state <> 'removed'`;
        return (
          row !== undefined && (row.version_id ?? undefined) === (sketch.isServed ? published.versionId : undefined)
        );
      });
      return published;
    },
    allow: (person, right, ...agents) => relations.grant(tuples(person, right, agents)),
    forbid: (person, right, ...agents) => relations.revoke(tuples(person, right, agents)),
    async listed(person, query = '') {
      const { status, json } = await ask(person, `/api/v1/agents${query}`);
      if (status !== 200) throw new Error(`the list was answered ${status}: ${JSON.stringify(json)}`);
      return (json['items'] as readonly { readonly agentId: string }[]).map(({ agentId }) => agentId);
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
