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
import type { Database, TransactionSql } from '#sql/connect';
import type { AgentContent } from '../records/agent-content.ts';
import { isId } from '../records/read-agents.ts';
import { decideRecord, type RecordDecision } from './decide-record.ts';
import type { CardJudge } from './judge-card.ts';
import { isStored, readStored } from './read-stored.ts';
import {
  hideInterfaces,
  markCurrent,
  markRemoved,
  withFormerTexts,
  writeAgent,
  writeWithFormerTexts,
} from './write-agent.ts';

type FeedOptions = {
  readonly client: Pick<KubeClient, 'list' | 'watch' | 'get'>;
  readonly database: Pick<Database, 'sql'>;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Decides which texts of a card are shown. */
  readonly cards: CardJudge;
  /** Whether the feed may remove the agents although an unusual number disappeared at once. */
  readonly acceptsMassRemoval: boolean;
  readonly onChange: (change: FeedChange) => void;
  /** How often the feed checks for changes that time causes, and retries what failed, milliseconds. */
  readonly pollMs: number;
  /** How many agents one statement compares with their rows between two checks for changes; 500 when absent. */
  readonly comparedAtOnce?: number;
};

export type FeedChange = 'written' | 'removed' | 'failed';

export type AgentFeed = AsyncDisposable & {
  /** Agents with changes that are not stored yet, or whose texts are not judged. */
  pending(): number;
  /** Judges the texts of all cards again: the policy has changed. */
  judgeAgain(): void;
  /** Whether the feed delays removals because too many agents disappeared at once. */
  isPaused(): boolean;
  /** For how many milliseconds the stored agents may lack a change. */
  ageMs(): number;
};

/**
 * After an interruption of this length, in which no watch proved that the agents are current, all agents are listed
 * again, milliseconds.
 */
const relistAfterMs = 30_000;

/**
 * How often all agents are compared with their rows: a database that fails over to an older copy loses rows without an
 * error, milliseconds.
 */
const compareAllMs = 600_000;

/** How many agents may disappear within this time: `always`, or this share of all agents if that is more. */
const vanishing = { always: 10, share: 0.2, withinMs: 60_000 } as const;

/**
 * Keeps the table of agents in sync with the resources: one watch of each kind reports the agents that may have changed, and each pass
 * compares the whole agent, so that a lost event, a restart or a repeated pass changes nothing
 * (docs/design/catalogue.md).
 */
export function followAgents(options: FeedOptions): AgentFeed {
  const {
    client,
    database,
    logger,
    clock,
    cards,
    acceptsMassRemoval,
    onChange,
    pollMs,
    comparedAtOnce = 500,
  } = options;
  const parts = new AsyncDisposableStack();
  /** Names of the agents that may have changed. */
  const changed = new Set<string>();
  /** Names of the agents that are compared with their rows although no change of them was seen. */
  const unsuspected = new Set<string>();
  /** Names of the agents whose texts wait for a decision of the policy, in the order of the attempts. */
  const unjudged = new Set<string>();
  /** The times at which the last agents were removed, oldest first. */
  const removals: number[] = [];
  /** For each agent, by name: the time at which its state changes although no resource changes. */
  const alarms = new Map<string, number>();
  /**
   * Keyed by name: since when the process of the version is unavailable, milliseconds; or that it was ready when the
   * agent was stored last.
   */
  const processes = new Map<string, 'ready' | number>();
  let isListed = false;
  /** The time until which every change is stored, by the clock; undefined before the first complete pass. */
  let currentAt: number | undefined;
  /** The time of the last mark of all agents, by the clock. */
  let markedAt = Number.NEGATIVE_INFINITY;
  let isPaused = false;

  const loop = startWorkLoop(pass, { pollMs });
  // Apart from the passes: checks may take long, and neither other changes nor the age of the agents wait for texts.
  const judging = startWorkLoop(judgeNext, { pollMs });
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
      relistAfterMs,
      logger,
      clock,
    }),
  );
  const versions = parts.use(
    startReflector<AgentVersion>({
      client,
      kind: kinds.agentVersion,
      transform: withoutSources,
      onChange: (_name, current, previous) => mark((current ?? previous)?.spec.agent ?? ''),
      relistAfterMs,
      logger,
      clock,
    }),
  );
  const routes = parts.use(
    startReflector<AgentRoute>({ client, kind: kinds.agentRoute, onChange: mark, relistAfterMs, logger, clock }),
  );
  parts.use(loop);
  parts.use(judging);
  Promise.all([agents.synced, versions.synced, routes.synced]).then(
    () => {
      isListed = true;
      loop.wake();
    },
    () => undefined,
  );

  /** Stores the changed agents. Returns whether more agents wait to be compared with their rows. */
  async function pass(signal: AbortSignal): Promise<boolean> {
    if (!isListed) return false;
    const seenAt = Math.min(...[agents, versions, routes].map((one) => one.currentAt()));
    try {
      if (clock.now() - markedAt >= compareAllMs) await markAll();
      // A few at a time, so that neither changes nor the age of the agents wait for the comparison of all.
      for (const name of unsuspected.values().take(comparedAtOnce)) {
        unsuspected.delete(name);
        changed.add(name);
      }
      ringAlarms();
      const vanished = [...changed].filter((name) => agents.store.get(name) === undefined);
      isPaused = !acceptsMassRemoval && vanished.length > 0 && (await isTooMany(vanished));
      if (isPaused) await hideInterfaces(database.sql, vanished);
      const present = [...changed].filter((name) => agents.store.get(name) !== undefined);
      // An id that another resource claims too is transferred to that resource before the removal, so that the agent is
      // not removed.
      const names = isPaused ? present : [...present, ...vanished];
      for (let from = 0; from < names.length; from += comparedAtOnce) {
        const compared = names.slice(from, from + comparedAtOnce);
        const ids = compared.flatMap((name) => agents.store.get(name)?.status?.agentId ?? []);
        const stored = await readStored(database.sql, ids.filter(isId));
        for (const name of compared) {
          if (signal.aborted) return false;
          changed.delete(name);
          await storeOne(name, stored);
        }
      }
      // Without changes, this is written each time the watches prove that nothing has changed.
      if (currentAt === undefined || seenAt > currentAt) await markCurrent(database.sql, clock.now() - seenAt);
      currentAt = seenAt;
      return unsuspected.size > 0;
    } catch (error) {
      if (!signal.aborted) reportFailure(error);
      return false;
    }
  }

  /** An agent that was deleted while no feed ran, or whose removal the database lost, is in the table only. */
  async function markAll(): Promise<void> {
    // Before the first complete pass it is not known whether the row of an unchanged agent is current.
    const marked = currentAt === undefined ? changed : unsuspected;
    for (const { metadata } of agents.store.list()) marked.add(metadata.name);
    const rows = await database.sql<{ resource: string }[]>`
      select resource from catalogue.agents where state <> 'removed'`;
    // Versions without an agent are counted together: many simultaneous removals wait.
    for (const { resource } of rows) (agents.store.get(resource) === undefined ? changed : marked).add(resource);
    markedAt = clock.now();
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

  /** @param stored the rows of the agents of this pass: an agent that equals its row needs no transaction */
  async function storeOne(name: string, stored: ReadonlyMap<string, AgentContent>): Promise<void> {
    try {
      alarms.delete(name);
      const agent = agents.store.get(name);
      if (agent === undefined) return await removeOne(name);
      const formerOf = ({ agent_id }: AgentContent) => stored.get(agent_id);
      const decided = await decideOne(agent, (content) => isWritten(formerOf(content), content, cards.shown(content)));
      if (decided === undefined) return;
      remember(name, decided.content.is_ready);
      if (decided.again !== undefined) alarms.set(name, decided.again.getTime());
      const card = cards.shown(decided.content);
      if (card === undefined) awaitJudgement([name]);
      else unjudged.delete(name);
      if (isWritten(formerOf(decided.content), decided.content, card)) return;
      const write = (sql: TransactionSql) =>
        card === undefined ? writeWithFormerTexts(sql, decided.content) : writeAgent(sql, card);
      if (await database.sql.begin(write)) onChange('written');
    } catch (error) {
      changed.add(name);
      throw error;
    }
  }

  /**
   * The watches of the kinds are independent: the watch of versions may lag behind the watch of agents. Therefore only
   * a live read of the served version decides that its agent is degraded.
   * @param isKnown whether the row of the agent already has the content that such a read decided
   */
  async function decideOne(
    agent: Stored<Agent>,
    isKnown: (content: AgentContent) => boolean = () => false,
  ): Promise<RecordDecision | undefined> {
    const { metadata, status } = agent;
    const now = clock.date();
    const observed = {
      agent,
      route: routes.store.get(metadata.name),
      now,
      lostSince: lostSince(metadata.name, now),
      claims: agents.store.by('id', status?.agentId ?? '').length,
    };
    const decided = decideRecord({ ...observed, version: versions.store.get });
    if (decided?.content.state !== 'degraded' || status?.served === undefined || isKnown(decided.content))
      return decided;
    const live = await client.get<AgentVersion>(kinds.agentVersion, status.served.version);
    return decideRecord({ ...observed, version: () => live });
  }

  function lostSince(name: string, now: Date): number | undefined {
    const seen = processes.get(name);
    return seen === 'ready' ? now.getTime() : seen;
  }

  function remember(name: string, isReady: boolean): void {
    const seen = isReady ? 'ready' : lostSince(name, clock.date());
    if (seen !== undefined) processes.set(name, seen);
  }

  function awaitJudgement(names: readonly string[]): void {
    // While checks fail, the next check starts after the interval.
    if (unjudged.size === 0) judging.wake();
    for (const name of names) unjudged.add(name);
  }

  /**
   * Judges the texts of one agent, which the next pass stores. Returns whether the next judgement can follow
   * immediately.
   */
  async function judgeNext(signal: AbortSignal): Promise<boolean> {
    const [name] = unjudged;
    if (!isListed || name === undefined) return false;
    // The next attempt is for another agent, so that an agent whose check fails does not delay others.
    unjudged.delete(name);
    const agent = agents.store.get(name);
    if (agent === undefined) return true;
    unjudged.add(name);
    try {
      const decided = await decideOne(agent);
      const card = decided === undefined ? undefined : await cards.judge(decided.content, signal);
      if (card?.kind === 'waits') {
        logger.warn('cards_wait', { code: card.code });
        return false;
      }
      unjudged.delete(name);
      // The pass decides again: the texts or the policy may have changed during the checks.
      mark(name);
      return true;
    } catch (error) {
      if (!signal.aborted) reportFailure(error);
      return false;
    }
  }

  function reportFailure(error: unknown): void {
    onChange('failed');
    logger.warn('feed_failed', { failure: describeFailure(error) });
  }

  /** The watch reports that the resource was deleted; only a live answer confirms it (`catalogue:state:removed`). */
  async function removeOne(name: string): Promise<void> {
    const live = await client.get<Agent>(kinds.agent, name);
    if (live === undefined) {
      cards.forget(name);
      processes.delete(name);
      if (!(await database.sql.begin((sql) => markRemoved(sql, name)))) return;
      removals.push(clock.now());
      onChange('removed');
      return;
    }
    // The watch reports the new resource of this name.
    changed.add(name);
  }

  return {
    pending: () => new Set([...changed, ...unjudged]).size,
    judgeAgain() {
      cards.forget();
      awaitJudgement(agents.store.list().map(({ metadata }) => metadata.name));
    },
    isPaused: () => isPaused,
    ageMs: () => clock.now() - (currentAt ?? Number.NEGATIVE_INFINITY),
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

/**
 * Whether the row of an agent is stored: with the texts of the card, or with the former texts while those of the card
 * are not judged.
 */
function isWritten(
  former: AgentContent | undefined,
  content: AgentContent,
  card: Parameters<typeof writeAgent>[1] | undefined,
): boolean {
  return former !== undefined && isStored(former, card ?? withFormerTexts(content, former));
}

/** The flow and the tests of a version are large and not shown. */
function withoutSources(version: Stored<AgentVersion>): Stored<AgentVersion> {
  const { lowCode } = version.spec;
  if (lowCode === undefined) return version;
  return { ...version, spec: { ...version.spec, lowCode: { ...lowCode, flow: '', tests: '' } } };
}
