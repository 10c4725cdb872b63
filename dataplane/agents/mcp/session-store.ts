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

/** Limits of sessions; the one that was idle for longest is removed first. */
export const sessionLimits = { kept: 1_000, idleMs: 3_600_000 } as const;

/** Sessions of this process (`agents:mcp:initialize`). A version has its own process, so a session is bound to it. */
export class SessionStore {
  readonly #sessions = new Map<string, Session>();
  readonly #clock: Clock;
  readonly #kept: number;

  constructor(clock: Clock, kept: number = sessionLimits.kept) {
    this.#clock = clock;
    this.#kept = kept;
  }

  open(owner: string): Session {
    const id = randomBytes(24).toString('base64url');
    const session = { id, owner, isInitialized: false, usedAt: this.#clock.now(), calls: new Map() };
    this.#sessions.set(id, session);
    for (const old of this.#sessions.values()) {
      if (this.#sessions.size <= this.#kept) break;
      this.end(old);
    }
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

  /** Ends a session and its calls in progress. */
  end(session: Session): void {
    this.#sessions.delete(session.id);
    for (const call of session.calls.values()) call.abort();
  }
}
