import type { AgentProblem } from '#contracts/agent-state';
import type { ByteBudget } from '#kit/http/byte-budget';
import type { Clock } from '#kit/time/clock';
import type { LoadedAgent } from '../bundle/load-agent.ts';
import type { AgentCard } from '../card/build-card.ts';
import type { CallVerifier } from '../identity/call-verifier.ts';
import type { SessionStore } from '../mcp/session-store.ts';
import type { RunReader } from '../monitoring/run-ring.ts';
import type { AgentApplication } from '../steps/process-call.ts';
import type { RunSlots } from '../steps/run-slots.ts';
import type { TaskStore } from '../tasks/task-store.ts';
import type { StreamReaders } from './stream-readers.ts';

/** A card with the bytes and the digest that its route returns. */
export type ServedCard = { readonly card: AgentCard; readonly bytes: Buffer; readonly digest: string };

/** The profiles that a version serves; each was confirmed. */
type ServedProfiles = {
  readonly card: ServedCard | undefined;
  readonly a2a: boolean;
  readonly streaming: boolean;
  readonly mcp: boolean;
};

/** The parts that all operations of one process share. */
export type AgentServer = {
  readonly agent: LoadedAgent;
  readonly application: AgentApplication;
  readonly verifier: CallVerifier;
  readonly profiles: ServedProfiles;
  readonly tasks: TaskStore;
  readonly sessions: SessionStore;
  readonly runs: RunReader;
  readonly slots: RunSlots;
  /** Bytes of the bodies whose calls have no place of a run yet. */
  readonly bodies: ByteBudget;
  readonly readers: StreamReaders;
  /** `issuer|subject` of the people who may call MCP (`agents:mcp-auth:r1-only`). */
  readonly mcpConfirmers: ReadonlySet<string>;
  readonly clock: Clock;
  readonly startedAt: Date;
  readonly unwatchedMs: number;
};

/** The present content of the traffic port: a version of an agent, or the problems that prevent it. */
export type Served =
  | { readonly kind: 'ready'; readonly server: AgentServer }
  | { readonly kind: 'not_ready'; readonly problems: readonly AgentProblem[] };
