import { startWorkLoop } from '#kit/concurrency/work-loop';
import { describeFailure } from '#kit/log/describe-failure';
import type { Logger } from '#kit/log/logger';
import type { Clock } from '#kit/time/clock';
import type { KubeClient } from '#kube/client/client';
import { startReflector } from '#kube/watch/reflector';
import type { Agent } from '#resources/agent';
import type { AgentRoute } from '#resources/agent-route';
import type { AgentVersion } from '#resources/agent-version';
import { kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { Database } from '#sql/connect';
import { decideRecord } from './decide-record.ts';
import { markComplete, markRemoved, writeAgent } from './write-agent.ts';

type FeedOptions = {
  readonly client: Pick<KubeClient, 'list' | 'watch' | 'get'>;
  readonly database: Pick<Database, 'sql'>;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Whether the agents may be removed although more vanished at once than usual. */
  readonly acceptsMassRemoval: boolean;
  readonly onChange: (change: FeedChange) => void;
  /** How often the feed looks for changes by time, and repeats what failed, milliseconds. */
  readonly pollMs: number;
};

export type FeedChange = 'written' | 'removed' | 'failed';

export type AgentFeed = AsyncDisposable & {
  /** Agents with changes that are not stored yet. */
  pending(): number;
  /** Whether removals wait because too many agents vanished at once. */
  isPaused(): boolean;
};

/** As many agents may always vanish within this time; above it, this share of all. */
const vanishing = { always: 10, share: 0.2, withinMs: 60_000 } as const;

/**
 * Keeps the table of agents as the resources are: one watch of each kind says which agents may have changed, and each pass
 * compares the whole agent, so that a lost event, a restart or a repeated pass changes nothing
 * (docs/design/catalogue.md).
 */
export function followAgents(options: FeedOptions): AgentFeed {
  const { client, database, logger, clock, acceptsMassRemoval, onChange, pollMs } = options;
  const parts = new AsyncDisposableStack();
  /** Names of the agents that may have changed. */
  const changed = new Set<string>();
  /** When the last agents were removed, oldest first. */
  const removals: number[] = [];
  /** By name: when the state changes although no resource does. */
  const alarms = new Map<string, number>();
  let isListed = false;
  let isComplete = false;
  let isPaused = false;

  const loop = startWorkLoop(pass, { pollMs });
  const mark = (name: string): void => {
    changed.add(name);
    loop.wake();
  };
  const agents = parts.use(
    startReflector<Agent>({
      client,
      kind: kinds.agent,
      indexes: { id: ({ status }) => (status?.agentId === undefined ? [] : [status.agentId]) },
      onChange(name, current, previous) {
        mark(name);
        // Whether an id is contested depends on the other agents that claim it.
        for (const id of [current?.status?.agentId, previous?.status?.agentId]) {
          if (id !== undefined) for (const { metadata } of agents.store.by('id', id)) mark(metadata.name);
        }
      },
      logger,
    }),
  );
  const versions = parts.use(
    startReflector<AgentVersion>({
      client,
      kind: kinds.agentVersion,
      transform: withoutSources,
      onChange: (_name, current, previous) => mark((current ?? previous)?.spec.agent ?? ''),
      logger,
    }),
  );
  const routes = parts.use(startReflector<AgentRoute>({ client, kind: kinds.agentRoute, onChange: mark, logger }));
  parts.use(loop);
  Promise.all([agents.synced, versions.synced, routes.synced]).then(
    () => {
      isListed = true;
      loop.wake();
    },
    () => undefined,
  );

  /** Stores the changed agents. Returns whether there was work that succeeded. */
  async function pass(signal: AbortSignal): Promise<boolean> {
    if (!isListed) return false;
    try {
      if (!isComplete) await markStored();
      ringAlarms();
      const vanished = [...changed].filter((name) => agents.store.get(name) === undefined);
      isPaused = !acceptsMassRemoval && vanished.length > 0 && (await isTooMany(vanished));
      const present = [...changed].filter((name) => agents.store.get(name) !== undefined);
      // An id that another resource claims too is taken over by it before the removal, so that the agent stays.
      for (const name of isPaused ? present : [...present, ...vanished]) {
        if (signal.aborted) return false;
        changed.delete(name);
        await storeOne(name);
      }
      if (!isComplete) await markComplete(database.sql);
      isComplete = true;
      return false;
    } catch (error) {
      onChange('failed');
      logger.warn('feed_failed', { failure: describeFailure(error) });
      return false;
    }
  }

  /** An agent that was deleted while no feed ran is in the table only. */
  async function markStored(): Promise<void> {
    const rows = await database.sql<{ resource: string }[]>`
      select resource from catalogue.agents where state <> 'removed'`;
    for (const { resource } of rows) changed.add(resource);
  }

  function ringAlarms(): void {
    const now = clock.date().getTime();
    for (const [name, at] of alarms) if (at <= now) changed.add(name);
  }

  async function isTooMany(vanished: readonly string[]): Promise<boolean> {
    const now = clock.now();
    while (removals[0] !== undefined && removals[0] <= now - vanishing.withinMs) removals.shift();
    if (!isPaused && vanished.length + removals.length <= vanishing.always) return false;
    const [row] = await database.sql<{ stored: number; gone: number }[]>`
      select count(*)::int as stored,
        (count(*) filter (where resource = any(${database.sql.array([...vanished])}::text[])))::int as gone
      from catalogue.agents where state <> 'removed'`;
    const { stored = 0, gone = 0 } = row ?? {};
    const all = stored + removals.length;
    const isMany = gone + removals.length > Math.max(vanishing.always, all * vanishing.share);
    // A pause ends when the stored agents are back or the removal is accepted, and not because time passes.
    const pauses = gone > 0 && (isPaused || isMany);
    if (pauses && !isPaused) logger.error('feed_paused', { gone, stored });
    return pauses;
  }

  async function storeOne(name: string): Promise<void> {
    try {
      alarms.delete(name);
      const agent = agents.store.get(name);
      if (agent === undefined) return await removeOne(name);
      const decided = decideRecord({
        agent,
        version: (version) => versions.store.get(version),
        route: routes.store.get(name),
        now: clock.date(),
        claims: agents.store.by('id', agent.status?.agentId ?? '').length,
      });
      if (decided === undefined) return;
      if (decided.again !== undefined) alarms.set(name, decided.again.getTime());
      if (await database.sql.begin((sql) => writeAgent(sql, decided.content))) onChange('written');
    } catch (error) {
      changed.add(name);
      throw error;
    }
  }

  /** The watch says that the resource is gone; only a live answer confirms it (`catalogue:state:removed`). */
  async function removeOne(name: string): Promise<void> {
    const live = await client.get<Agent>(kinds.agent, name);
    if (live === undefined) {
      if (!(await database.sql.begin((sql) => markRemoved(sql, name)))) return;
      removals.push(clock.now());
      onChange('removed');
      return;
    }
    // The watch brings the new resource of this name.
    changed.add(name);
  }

  return {
    pending: () => changed.size,
    isPaused: () => isPaused,
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

/** The flow and the tests of a version are large and not shown. */
function withoutSources(version: Stored<AgentVersion>): Stored<AgentVersion> {
  return { ...version, spec: { ...version.spec, lowCode: { ...version.spec.lowCode, flow: '', tests: '' } } };
}
