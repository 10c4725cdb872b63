import { setTimeout as pause } from 'node:timers/promises';
import { until } from '#kit/testing/until';
import type { Database } from '#sql/connect';
import type { AgentSketch } from '../../dataplane/catalogue/testing/agent-resources.ts';
import { type CommitProxy, startCommitProxy } from '../support/commit-proxy.ts';
import { type AgentLife, lifeFaults, liveOneLife } from './agent-lives.ts';
import { type CatalogueProcesses, startCatalogueProcesses } from './catalogue-processes.ts';
import type { EndingReceiver } from './event-receivers.ts';

const crashParts = ['api', 'worker', 'database', 'receiver'] as const;
type Part = (typeof crashParts)[number];

type CrashReport = {
  /** Agents whose events were compared. */
  readonly agents: number;
  readonly events: number;
  /** Number of repeated deliveries: all deliveries of an event after the first delivery. */
  readonly repeated: number;
  readonly lostCommits: number;
  /** Complete answers of lists and searches while parts were killed. */
  readonly answers: number;
  /** The faults, one sentence each: events that are lost or out of order, answers that omit an agent. */
  readonly faults: readonly string[];
};

/** Agents that change at the same time. */
const lanes = 6;
/** Agents that every answer must contain. */
const steady = ['first', 'second', 'third'] as const;

/** Kills the API, the worker with its relay, the database and the receiver in turn, while agents pass through their states. */
export async function crashCatalogue(
  receiver: EndingReceiver,
  kills: number,
  say: (progress: string) => void,
): Promise<CrashReport> {
  await using parts = new AsyncDisposableStack();
  const commits: { proxy?: CommitProxy } = {};
  const world = parts.use(
    await startCatalogueProcesses({
      environment: {
        ...receiver.environment,
        PORTCULLIS_MODEL_GATEWAY_URL: 'http://127.0.0.1:9',
        PORTCULLIS_LOG_LEVEL: 'error',
      },
      files: { PORTCULLIS_MODELS_FILE: '{}' },
      async reachDatabase(url) {
        commits.proxy = parts.use(await startCommitProxy(url));
        return commits.proxy.url;
      },
    }),
  );
  const agents = await Promise.all(steady.map((name) => world.create(name)));
  await world.allow('ann', 'view', ...agents);
  await world.allow('ann', 'invoke', ...agents);
  await until('the first answers are complete', async () => (await missingInAnswers(world, agents)) === 0);
  const { proxy } = commits;
  if (proxy !== undefined) proxy.share = 0.01;
  const over = new AbortController();
  using _end = { [Symbol.dispose]: () => over.abort() };
  const counts = { answers: 0, faults: [] as string[] };
  const asking = askAll(world, agents, over.signal, counts);
  const lives: AgentLife[] = [];
  const living = Promise.all(
    Array.from({ length: lanes }, async (_one, lane) => {
      for (let at = 0; !over.signal.aborted; at += 1) lives.push(await liveOneLife(world, `lane-${lane}-${at}`));
    }),
  );
  // If a part does not start again, that failure is reported, and not the missing changes that it causes.
  living.catch(() => undefined);
  for (let at = 0; at < kills; at += 1) {
    await pause(100 + Math.random() * 400);
    await crash(world, receiver, crashParts[at % crashParts.length] ?? 'worker');
    counts.faults.push(...(await restartEnded(world)));
    if (at % 20 === 19) say(`${at + 1} kills, ${lives.length} agents, ${counts.answers} complete answers`);
  }
  const before = counts.answers;
  await until('an answer is complete after the last kill', () => counts.answers > before);
  over.abort();
  await Promise.all([living, asking]);
  counts.faults.push(...(await restartEnded(world)));
  if (proxy !== undefined) proxy.share = 0;
  await drain(world.database);
  const received = await receiver.received();
  return {
    agents: lives.length,
    events: lives.reduce((sum, { events }) => sum + events.length, 0),
    repeated: received.length - new Set(received.map(({ id }) => id)).size,
    lostCommits: proxy?.lost() ?? 0,
    answers: counts.answers,
    faults: [...counts.faults, ...lives.flatMap((life) => lifeFaults(life, received))],
  };
}

/** Kills a part with SIGKILL, waits, and starts it again on its data. */
async function crash(world: CatalogueProcesses, receiver: EndingReceiver, part: Part): Promise<void> {
  const away = () => pause(Math.random() * 300);
  switch (part) {
    case 'database':
      await world.killDatabase();
      await away();
      return await world.restartDatabase();
    case 'receiver':
      await receiver.end();
      await away();
      return await receiver.start();
    default:
      await world.running[part].end('SIGKILL');
      await away();
      await world.start(part);
  }
}

/** A process that ended without a kill counts as a fault; it is started again, as a supervisor would do. */
async function restartEnded(world: CatalogueProcesses): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const role of ['api', 'worker'] as const) {
    const { hasEnded, log } = world.running[role];
    if (!hasEnded()) continue;
    faults.push(`the ${role} ended by itself: ${log().slice(-1_500)}`);
    await world.start(role);
  }
  return faults;
}

/** Waits until every event is delivered, without the pauses after failures. */
async function drain({ sql }: Database): Promise<void> {
  await until(
    'every event is delivered',
    async () => {
      const open = await sql`
        update catalogue.outbox set next_attempt_at = clock_timestamp()
        where delivered_at is null and parked_at is null returning 1`;
      return open.length === 0;
    },
    { everyMs: 500 },
  );
}

/** Sends queries until it is stopped; an answer may fail, but a successful answer must contain every steady agent. */
async function askAll(
  world: CatalogueProcesses,
  agents: readonly AgentSketch[],
  signal: AbortSignal,
  counts: { answers: number; faults: string[] },
): Promise<void> {
  while (!signal.aborted) {
    const missing = await missingInAnswers(world, agents);
    if (missing === 0) counts.answers += 2;
    if (missing !== undefined && missing > 0) counts.faults.push(`an answer misses ${missing} agents`);
    await pause(50);
  }
}

/** How many agents are missing in a list and a search of ann; undefined if one of both failed. */
async function missingInAnswers(
  world: CatalogueProcesses,
  agents: readonly AgentSketch[],
): Promise<number | undefined> {
  const body = JSON.stringify({ query: 'questions', workspaceId: 'support', topK: 50, profile: 'terms' });
  const search = { method: 'POST', body, headers: { 'content-type': 'application/json' } };
  try {
    const answers = [await world.ask('ann', '/api/v1/agents'), await world.ask('ann', '/api/v1/agents/search', search)];
    if (answers.some(({ status }) => status !== 200)) return undefined;
    const texts = await Promise.all(answers.map((one) => one.text()));
    return agents.filter(({ agentId }) => texts.some((text) => !text.includes(agentId))).length;
  } catch {
    return undefined;
  }
}
