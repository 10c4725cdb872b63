import { randomBytes } from 'node:crypto';
import type { Clock } from '#kit/time/clock';

/** An MCP session. It belongs to the caller who opened it and grants no rights. */
export type Session = {
  readonly id: string;
  readonly owner: string;
  isInitialized: boolean;
  usedAt: number;
  /** Calls in progress, by the id of their request. */
  readonly calls: Map<string | number, AbortController>;
};

/**
 * Limits of sessions. If there are too many sessions, the session without calls that was idle for the longest time is
 * ended first.
 */
export const sessionLimits = { kept: 1_000, ofOwner: 100, idleMs: 3_600_000 } as const;

type StoreLimits = {
  readonly kept: number;
  /** Maximum number of sessions of one caller. */
  readonly ofOwner: number;
};

/** Sessions of this process (`agents:mcp:initialize`). A version has its own process, so a session is bound to it. */
export class SessionStore {
  readonly #sessions = new Map<string, Session>();
  readonly #clock: Clock;
  readonly #limits: StoreLimits;

  constructor(clock: Clock, limits: StoreLimits = sessionLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  open(owner: string): Session {
    const id = randomBytes(24).toString('base64url');
    const session = { id, owner, isInitialized: false, usedAt: this.#clock.now(), calls: new Map() };
    const all = [...this.#sessions.values()];
    const own = all.filter((one) => one.owner === owner);
    if (own.length >= this.#limits.ofOwner) this.#endOne(own);
    else if (all.length >= this.#limits.kept) this.#endOne(all);
    this.#sessions.set(id, session);
    return session;
  }

  /** The session of this caller; undefined if the session has ended or belongs to another caller. */
  find(owner: string, id: string): Session | undefined {
    const session = this.#sessions.get(id);
    if (session?.owner !== owner) return undefined;
    if (this.#clock.now() - session.usedAt > sessionLimits.idleMs) {
      this.end(session);
      return undefined;
    }
    session.usedAt = this.#clock.now();
    this.#sessions.delete(id);
    this.#sessions.set(id, session);
    return session;
  }

  /** @param sessions in the order of their last use */
  #endOne(sessions: readonly Session[]): void {
    const ended = sessions.find(({ calls }) => calls.size === 0) ?? sessions[0];
    if (ended !== undefined) this.end(ended);
  }

  /** Ends a session and its calls in progress. */
  end(session: Session): void {
    this.#sessions.delete(session.id);
    for (const call of session.calls.values()) call.abort();
  }
}
