import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tenantIssuer } from '#identity/authorize-callers';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { createClient, type KubeClient } from '#kube/client/client';
import { type FakeApiServer, startFakeApiServer } from '#kube/testing/fake-api-server';
import { openRelations } from '#relations/adapters/open-relations';
import { userSubject } from '#relations/subject';
import type { AgentRoute } from '#resources/agent-route';
import type { AgentVersion } from '#resources/agent-version';
import { kinds } from '#resources/kinds';
import { connectSql, type Database, passwordFrom } from '#sql/connect';
import { type AgentSketch, resourcesOf, sketchAgent } from '../../dataplane/catalogue/testing/agent-resources.ts';
import { startCrashingDatabase } from '../support/crashing-database.ts';
import { type RunningProcess, startProcess } from '../support/start-process.ts';

type Role = 'api' | 'worker';

export type CatalogueProcesses = AsyncDisposable & {
  readonly database: Database;
  /** The folder in which PostgreSQL stores its files. */
  readonly databaseFolder: string;
  readonly resources: FakeApiServer;
  /** The process of a role; a restart replaces it. */
  readonly running: Readonly<Record<Role, RunningProcess>>;
  /** A request of a person in development mode. @throws TypeError where the process does not answer */
  ask(person: string, path: string, init?: RequestInit): Promise<Response>;
  /** Creates the resources of an agent. The watches of their kinds are independent: the agent may be seen first. */
  create(name: string, change?: Partial<AgentSketch>): Promise<AgentSketch>;
  /** Creates an agent without a version. */
  createAgent(sketch: AgentSketch): Promise<void>;
  /** Creates a version of an agent; its id. */
  createVersion(sketch: AgentSketch, name: string): Promise<string>;
  allow(person: string, right: 'view' | 'invoke', ...agents: readonly Pick<AgentSketch, 'agentId'>[]): Promise<void>;
  /** Starts a killed process again. */
  start(role: Role): Promise<void>;
  killDatabase(): Promise<void>;
  restartDatabase(): Promise<void>;
};

type ProcessesOptions = {
  /** Settings of both processes. */
  readonly environment: Readonly<Record<string, string>>;
  /** Settings that name a file, with the content of the file. */
  readonly files?: Readonly<Record<string, string>>;
  /** Returns the address by which the processes reach the database of the given address; that address when absent. */
  readonly reachDatabase?: (url: string) => Promise<string>;
};

/** The tenant of every person. */
export const catalogueTenant = 'acme';

/** The API and the worker as separate processes, as the chart runs them, with a database that can be killed. */
export async function startCatalogueProcesses(options: ProcessesOptions): Promise<CatalogueProcesses> {
  await using parts = new AsyncDisposableStack();
  const folder = parts.use(temporaryFolder()).path;
  const databaseFolder = join(folder, 'database');
  mkdirSync(databaseFolder);
  const server = parts.use(await startCrashingDatabase(databaseFolder));
  const database = parts.use(
    connectSql({ url: server.url, password: passwordFrom(server.passwordFile), applicationName: 'audit', max: 4 }),
  );
  const resources = parts.use(await startFakeApiServer());
  const client: KubeClient = parts.use(
    createClient({ url: resources.url, credentials: { authorization: () => 'Bearer token' }, namespace: 'default' }),
  );
  const file = (name: string, content: string): string => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const environment: Readonly<Record<string, string>> = {
    PORTCULLIS_IDENTITY: 'development',
    PORTCULLIS_DATABASE_URL: (await options.reachDatabase?.(server.url)) ?? server.url,
    PORTCULLIS_DATABASE_PASSWORD_FILE: server.passwordFile,
    PORTCULLIS_CURSOR_KEY_FILE: file('cursor.key', 'a-secret-of-cursors-with-enough-characters\n'),
    PORTCULLIS_API_URL: resources.url,
    PORTCULLIS_API_TOKEN_FILE: file('api.token', 'token\n'),
    PORTCULLIS_MASS_REMOVAL: 'accept',
    PORTCULLIS_REQUESTS_PER_MINUTE: '1000000',
    ...options.environment,
    ...Object.fromEntries(Object.entries(options.files ?? {}).map(([name, text]) => [name, file(name, text)])),
  };
  const startRole = (role: Role): Promise<RunningProcess> =>
    startProcess({ file: 'dataplane/catalogue/main.ts', environment: { ...environment, PORTCULLIS_ROLE: role } });
  // The worker is started first, because both processes would create the tables.
  const worker = await startRole('worker');
  const running = { worker, api: await startRole('api') };
  parts.defer(async () => {
    await Promise.all(Object.values(running).map((one) => one.end('SIGKILL')));
  });
  const relations = parts.use(await openRelations({ kind: 'postgres' }, database, undefined));
  async function createVersion(sketch: AgentSketch, name: string): Promise<string> {
    const version = { ...resourcesOf(sketch).version, metadata: { name } };
    // The server issues the UID, which is the id of the version.
    return (await client.create<AgentVersion>(kinds.agentVersion, version as never)).metadata.uid;
  }
  async function createAgent(sketch: AgentSketch): Promise<void> {
    const { agent, route } = resourcesOf(sketch);
    await client.create<AgentRoute>(kinds.agentRoute, route as never);
    await client.create(kinds.agent, agent as never);
  }
  const owned = parts.move();
  return {
    database,
    databaseFolder,
    resources,
    running,
    ask(person, path, init = {}) {
      const headers = new Headers(init.headers);
      headers.set('x-user-id', person);
      headers.set('x-tenant-id', catalogueTenant);
      return fetch(`${running.api.url}${path}`, { ...init, headers });
    },
    async create(name, change = {}) {
      const sketch = sketchAgent(name, change);
      const created = { ...sketch, versionId: await createVersion(sketch, `${name}-1`) };
      await createAgent(created);
      return created;
    },
    createAgent,
    createVersion,
    allow: (person, right, ...agents) =>
      relations.grant(
        agents.map(({ agentId }) => ({
          subject: userSubject({ issuer: tenantIssuer(catalogueTenant), subject: person }),
          relation: right,
          object: `agent:${agentId}`,
        })),
      ),
    async start(role) {
      // A process whose database is unavailable during its start exits, and its supervisor restarts it.
      running[role] = await until(`the ${role} starts`, () => startRole(role));
    },
    killDatabase: server.kill,
    restartDatabase: server.restart,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
