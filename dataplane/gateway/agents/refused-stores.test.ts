import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ensureGatewayKeys } from '#identity/gateway-keys';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { openPostgresRelations } from '#relations/adapters/postgres/postgres-relations';
import type { AgentRoute } from '#resources/agent-route';
import { startPostgresProxy } from '#sql/testing/postgres-proxy';
import { missingPostgres, onPostgres, openTestDatabase, type TestDatabase } from '#sql/testing/test-database';
import type { AgentsConfig } from '../agents-config.ts';
import { handSource } from '../testing/route-builder.ts';
import { startGateway, type TestGateway } from '../testing/start-gateway.ts';
import { migrateBudgets } from './budgets/run-budgets.ts';

const budgets = { perMinute: 5, perDay: undefined, tokensPerDay: undefined, bytesPerDay: undefined };

/** A gateway whose routes of models and agents are loaded, with rights and budgets in a database. */
async function open(database: Pick<TestDatabase, 'url' | 'passwordFile'>, isServingAgents = true) {
  const folder = temporaryFolder();
  onTestFinished(() => folder[Symbol.dispose]());
  const signingKeysFile = join(folder.path, 'signing.json');
  await ensureGatewayKeys(signingKeysFile);
  const served: AgentsConfig = {
    issuer: 'https://gateway.example',
    signingKeysFile,
    identity: { mode: 'development' },
    rights: {
      databaseUrl: database.url,
      databasePasswordFile: database.passwordFile,
      relations: { kind: 'postgres' },
      openFgaTokenFile: undefined,
    },
    confirmers: [],
    connectionsFile: undefined,
    runs: { atOnce: 4, perMinute: 100 },
    budgets,
  };
  const agentRoutes = handSource<AgentRoute>();
  const agents = isServingAgents ? { agentRoutes: agentRoutes.open, served } : {};
  const gateway = await startGateway(folder.path, 'token', agents);
  onTestFinished(() => gateway[Symbol.asyncDispose]());
  agentRoutes.complete();
  gateway.routes.complete();
  return gateway;
}

async function openDatabase(): Promise<TestDatabase> {
  const database = await openTestDatabase();
  onTestFinished(() => database[Symbol.asyncDispose]());
  await openPostgresRelations(database.database);
  await migrateBudgets(database.database);
  return database;
}

/** Changes the database as if a later release had applied one more migration file. */
function upgrade({ database: { sql } }: TestDatabase, schema: string) {
  return sql`insert into ${sql(schema)}.migrations (number, name, digest) values (900, '0900-later.sql', 'digest')`;
}

function downgrade({ database: { sql } }: TestDatabase, schema: string) {
  return sql`delete from ${sql(schema)}.migrations where number = 900`;
}

const readyz = async ({ service }: TestGateway) => (await fetch(`${service.adminUrl}/readyz`)).status;
const eventsOf = ({ log }: TestGateway) =>
  log()
    .split('\n')
    .flatMap((line): readonly Record<string, unknown>[] => (line === '' ? [] : [JSON.parse(line)]));
const named = (gateway: TestGateway, event: string) => eventsOf(gateway).filter((line) => line['event'] === event);

describe.skipIf(missingPostgres !== undefined)(onPostgres('a gateway on tables of another release'), () => {
  test.each([
    ['rights', 'relations', 'relation_store_refused'],
    ['budgets', 'agent_budgets', 'agent_budgets_refused'],
  ])(
    'a new gateway that serves agents is not ready while the tables of %s are those of a newer release',
    async (_, schema, event) => {
      const database = await openDatabase();
      await upgrade(database, schema);
      const gateway = await open(database);
      const other = schema === 'relations' ? 'agent_budgets_available' : 'relation_store_available';
      await until('both stores were asked', () => named(gateway, event).length + named(gateway, other).length === 2);
      expect(named(gateway, event)).toMatchObject([
        { level: 'error', fault: 'newer', problem: expect.stringContaining(`schema ${schema} holds 0900-later.sql`) },
      ]);
      expect(await readyz(gateway)).toBe(503);
      const models = await open(database, false);
      await until('a gateway without agents is ready', async () => (await readyz(models)) === 200);
      expect(gateway.reports.some(({ ready }) => ready)).toBe(false);
      await downgrade(database, schema);
      await until('it is ready', async () => (await readyz(gateway)) === 200);
      expect(named(gateway, event)).toHaveLength(1);
    },
  );

  test('a gateway that became ready without its database stays ready when the tables turn out to be those of a newer release', async () => {
    const database = await openDatabase();
    await upgrade(database, 'relations');
    let isAway = true;
    await using proxy = await startPostgresProxy(database.url, ({ client, database: server, end }) => {
      if (isAway) return end();
      client.pipe(server).pipe(client);
    });
    const gateway = await open({ url: proxy.url, passwordFile: database.passwordFile });
    await until('it is ready', async () => (await readyz(gateway)) === 200);
    expect(named(gateway, 'relation_store_unavailable')).toHaveLength(1);
    isAway = false;
    await until('the tables are refused', () => named(gateway, 'relation_store_refused').length > 0);
    expect(await readyz(gateway)).toBe(200);
    expect(gateway.reports.at(-1)?.ready).toBe(true);
    await downgrade(database, 'relations');
    await until('the rights are open', () => named(gateway, 'relation_store_available').length > 0);
  });
});
