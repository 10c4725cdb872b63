import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { natsProgram, startNats } from '../retrieval/nats-server.ts';
import { fileContains, snapshotSettings, takeSnapshot } from '../support/heap-snapshot.ts';
import { deniedTerm } from '../support/sample-policy.ts';
import { startCollector } from '../support/start-collector.ts';
import { alias, startGuardedGateway } from '../support/start-guarded-gateway.ts';
import type { RunningProcess } from '../support/start-process.ts';
import { answerEmbeddings, askWithText, type QueryCounts } from './ask-with-text.ts';
import { type CatalogueProcesses, startCatalogueProcesses } from './catalogue-processes.ts';
import { startSearchingConsole } from './searching-console.ts';

/**
 * A text that no other text of the platform contains, and that the analysis of terms leaves unchanged. Node keeps
 * strings of up to ten characters that it reads from JSON in a table of its own; this text is longer.
 */
const marker = 'zyxmarkrrzyxmarkrr';
/**
 * A text in the description of an agent, which shows that a text in the database, in its files and in the heaps would
 * be found.
 */
const control = 'abcdkontrol';
const dimension = 64;

type QueryTextReport = {
  readonly counts: QueryCounts;
  /** Places that were searched. */
  readonly places: readonly string[];
  /** Places that contain the marker, or in which the text that must be found is not found. */
  readonly faults: readonly string[];
};

type Place = {
  readonly name: string;
  /** A text that the place contains; finding it proves that the search works. */
  readonly known: string;
  readonly contains: (text: string) => Promise<boolean>;
};

/** Why the world of the measurement cannot be started; undefined if it can. */
export const missingForQueryText = natsProgram.missing;

/**
 * Sends queries with a marker through every path, valid and invalid ones, and then searches for the marker in
 * everything that is stored.
 */
export async function findQueryText(queries: number, say: (progress: string) => void): Promise<QueryTextReport> {
  await using parts = new AsyncDisposableStack();
  const [busFolder, heapFolder] = [parts.use(temporaryFolder()).path, parts.use(temporaryFolder()).path];
  const busLog = join(busFolder, 'nats.log');
  const nats = parts.use(await startNats({ folder: busFolder, args: ['-D', '--log', busLog] }));
  const collector = parts.use(await startCollector());
  const traced = { PORTCULLIS_TRACES_OTLP_URL: collector.url.href, ...snapshotSettings(heapFolder) };
  const environment = { PORTCULLIS_LOG_LEVEL: 'debug', ...traced };
  const guarded = parts.use(await startGuardedGateway({ environment, runtimeEnvironment: traced }));
  const models = { embedding: [{ id: 'words', model: alias, dimension }] };
  const world = parts.use(
    await startCatalogueProcesses({
      environment: {
        ...environment,
        PORTCULLIS_EVENTS_NATS_URL: nats.url,
        PORTCULLIS_MODEL_GATEWAY_URL: guarded.url,
        PORTCULLIS_EMBEDDING_PROFILE: 'words',
      },
      files: { PORTCULLIS_MODELS_FILE: JSON.stringify(models), PORTCULLIS_MODEL_GATEWAY_TOKEN_FILE: guarded.key },
    }),
  );
  answerEmbeddings(guarded.upstream, dimension);
  const agents = [
    await world.create('payroll', { description: `Answers about salaries, ${control}.` }),
    await world.create('holiday', { description: 'Answers about holidays.' }),
  ];
  await world.allow('ann', 'view', ...agents);
  await world.allow('ann', 'invoke', ...agents);
  await until('every agent has a vector', async () => {
    const [row] = await world.database.sql<{ count: number }[]>`
      select count(*)::int as count from catalogue.entries where is_listed and vector is not null`;
    return row?.count === agents.length;
  });
  const shown = parts.use(await startSearchingConsole(world, environment));
  const counts = {
    ...(await askWithText({ world, upstream: guarded.upstream, marker, queries, dimension })),
    'found in the console': await shown.search(`salaries ${marker}`, queries),
  };
  say(
    Object.entries(counts)
      .map(([what, count]) => `${count} ${what}`)
      .join(', '),
  );
  world.resources.remove('agents', 'holiday');
  await until('the events are delivered', async () => {
    const [row] = await world.database.sql<{ removed: number; open: number }[]>`
      select (count(*) filter (where type = 'agent.removed'))::int as removed,
        (count(*) filter (where delivered_at is null))::int as open from catalogue.outbox`;
    return row?.removed === 1 && row.open === 0;
  });
  const processes = {
    api: world.running.api,
    worker: world.running.worker,
    gateway: guarded.gateway,
    runtime: guarded.runtime,
    console: shown.running,
  };
  const services = ['portcullis-catalogue', 'portcullis-gateway', 'portcullis-runtime'];
  await until('spans of every service are collected', async () =>
    services.every((name) => collector.spans().some(({ service }) => service === name)),
  );
  const agentId = agents[0]?.agentId ?? '';
  const places: Place[] = [
    rowsOf(world),
    filesOf('files of the database', world.databaseFolder, control),
    filesOf('files of the bus', busFolder, agentId),
    ...Object.entries(processes).flatMap(([name, running]) => [
      logOf(name, running),
      metricsOf(name, running, guarded.runtimeToken),
    ]),
    { name: 'spans', known: alias, contains: async (text) => collector.text().includes(text) },
  ];
  const known = {
    api: agentId,
    worker: control,
    gateway: alias,
    runtime: deniedTerm,
    console: 'Find an agent for a task',
  };
  for (const [name, running] of Object.entries(processes)) {
    const snapshot = await takeSnapshot(running, heapFolder);
    places.push({
      name: `heap of ${name}`,
      known: known[name as keyof typeof known],
      contains: (text) => fileContains(snapshot, text),
    });
  }
  const faults: string[] = [];
  if (counts['found in the console'] !== queries) faults.push('a search in the console shows no agent');
  for (const place of places) {
    if (await place.contains(marker)) faults.push(`${place.name}: contains the text of a query`);
    if (!(await place.contains(place.known))) faults.push(`${place.name}: ${place.known} is not found`);
  }
  return { counts, faults, places: places.map(({ name }) => name) };
}

/** Every row of every table, as a dump has them. */
function rowsOf({ database }: CatalogueProcesses): Place {
  return {
    name: 'rows of the database',
    known: control,
    async contains(text) {
      const tables = await database.sql<{ name: string }[]>`
        select format('%I.%I', schemaname, tablename) as name from pg_tables
        where schemaname not in ('pg_catalog', 'information_schema')`;
      for (const { name } of tables) {
        const rows = await database.sql.unsafe(`select t::text as row from ${name} t`);
        if (rows.some(({ row }) => String(row).includes(text))) return true;
      }
      return false;
    },
  };
}

function filesOf(name: string, folder: string, known: string): Place {
  return {
    name,
    known,
    async contains(text) {
      for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
        const file = join(folder, path);
        if (statSync(file, { throwIfNoEntry: false })?.isFile() === true && (await fileContains(file, text)))
          return true;
      }
      return false;
    },
  };
}

function logOf(name: string, running: RunningProcess): Place {
  return { name: `log of ${name}`, known: 'listening', contains: async (text) => running.output().includes(text) };
}

/** @param token of the runtime, whose metrics need it */
function metricsOf(name: string, { ready, url }: RunningProcess, token: string): Place {
  const address = `${String(ready['admin'] ?? url)}/metrics`;
  const headers = { authorization: `Bearer ${token}` };
  return {
    name: `metrics of ${name}`,
    known: '# HELP ',
    contains: async (text) => (await (await fetch(address, { headers })).text()).includes(text),
  };
}
