import type { AuditAuthor, AuditContent } from '#contracts/audit';
import type { Clock } from '#kit/time/clock';
import type { AuditLog } from './ports.ts';

type Refusal = Pick<AuditContent, 'action' | 'author' | 'client' | 'target' | 'traceId'> & {
  readonly code: string;
};

export type RefusalRecorder = AsyncDisposable & {
  /** Resolves when the refusal is stored or counted, after `waitMs` at the latest. Never rejects. */
  record(refusal: Refusal): Promise<void>;
  /** Stores the counted refusals. */
  flush(): Promise<void>;
};

/** Limits of one process within one time window. */
export const refusalLimits = {
  windowMs: 60_000,
  /** How many refusals of one subject get an entry of their own. */
  singles: 30,
  /** Groups of equal refusals that are counted apart. */
  groups: 500,
  /** How many targets of one subject are counted separately. */
  targets: 20,
} as const;

const waitMs = 1_000;

type Group = {
  readonly refusal: Refusal;
  /** Whether every refusal of the group has the same target. */
  readonly hasTarget: boolean;
  count: number;
  readonly since: Date;
};

/**
 * Records refusals so that no client can fill the log: a refusal without a verified subject is only counted, and so are
 * refusals of a subject beyond `refusalLimits.singles`, separately for each target up to `refusalLimits.targets`. One
 * entry for each group of equal refusals is stored at the end of the window. Counts that are not stored yet are lost
 * when the process is killed.
 */
export function createRefusalRecorder(options: {
  readonly log: Pick<AuditLog, 'write'>;
  readonly clock: Clock;
  /**
   * Called when the database did not store entries; their refusals stay counted.
   * @param traceId the trace id of the refused request, for a separate entry
   */
  readonly onFailure: (error: unknown, traceId: string | null) => void;
}): RefusalRecorder {
  const { log, clock, onFailure } = options;
  const groups = new Map<string, Group>();
  const singles = new Map<string, number>();
  /** The groups with a target of each subject. */
  const targets = new Map<string, number>();
  let storing: Promise<void> = Promise.resolve();

  function count(refusal: Refusal, times = 1, since = clock.date()): void {
    const { action, code, client, author, target } = refusal;
    const ofTarget = JSON.stringify([action, code, client, author, target]);
    const named = targets.get(keyOf(author)) ?? 0;
    const isNamed = author.kind !== 'unknown' && target !== null;
    const hasTarget = isNamed && (groups.has(ofTarget) || named < refusalLimits.targets);
    const own = hasTarget ? ofTarget : JSON.stringify([action, code, client, author]);
    const isFull = !groups.has(own) && groups.size >= refusalLimits.groups;
    const shared = { ...refusal, action: 'read', author: { kind: 'unknown' } } as const;
    const key = isFull ? JSON.stringify([refusal.code]) : own;
    const kept = isFull ? shared : refusal;
    const found = groups.get(key);
    if (found !== undefined) {
      found.count += times;
      return;
    }
    groups.set(key, { refusal: kept, hasTarget: hasTarget && !isFull, count: times, since });
    if (hasTarget && !isFull) targets.set(keyOf(author), named + 1);
  }

  async function store(refusal: Refusal): Promise<void> {
    try {
      await log.write([contentOf({ refusal, hasTarget: true, count: 1, since: clock.date() }, clock.date())]);
    } catch (error) {
      count(refusal);
      onFailure(error, refusal.traceId);
    }
  }

  async function storeGroups(): Promise<void> {
    singles.clear();
    targets.clear();
    const counted = [...groups.values()];
    groups.clear();
    if (counted.length === 0) return;
    try {
      await log.write(counted.map((group) => contentOf(group, clock.date())));
    } catch (error) {
      for (const group of counted) count(group.refusal, group.count, group.since);
      onFailure(error, null);
    }
  }

  function flush(): Promise<void> {
    storing = storing.then(storeGroups);
    return storing;
  }

  const timer = setInterval(() => void flush(), refusalLimits.windowMs);

  return {
    async record(refusal) {
      const { author } = refusal;
      const used = singles.get(keyOf(author)) ?? 0;
      const isCounted = author.kind === 'unknown' || used >= refusalLimits.singles;
      if (isCounted) return count(refusal);
      if (used === 0 && singles.size >= refusalLimits.groups) return count(refusal);
      singles.set(keyOf(author), used + 1);
      await Promise.race([store(refusal), after(waitMs)]);
    },
    flush,
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await flush();
    },
  };
}

function keyOf(author: AuditAuthor): string {
  return author.kind === 'token' ? JSON.stringify([author.issuer, author.subject]) : author.kind;
}

function contentOf({ refusal, hasTarget, count, since }: Group, now: Date): AuditContent {
  const isGroup = count > 1;
  return {
    time: now.toISOString(),
    outcome: 'refused',
    operationId: null,
    before: null,
    after: null,
    ...refusal,
    // The grouped refusals may have different targets, and each has a different trace.
    target: isGroup && !hasTarget ? null : refusal.target,
    traceId: isGroup ? null : refusal.traceId,
    count,
    since: isGroup ? since.toISOString() : null,
  };
}

function after(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
