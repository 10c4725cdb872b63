import type { CheckClient } from '#checks/client';
import { canonicalBytes, sha256Hex } from '#contracts/canonical';
import type { FlowPorts } from '#flow/engine/ports';
import type { Clock } from '#kit/time/clock';
import type { Spans } from '#kit/trace/span';
import type { Capability } from './bundle/capabilities.ts';
import type { LoadedAgent } from './bundle/load-agent.ts';
import { buildCard } from './card/build-card.ts';
import type { CallFiles } from './files/call-files.ts';
import type { RunGrants } from './grants/run-grants.ts';
import type { AgentServer, ServedCard } from './http/agent-server.ts';
import { createBodyBudget } from './http/exchange.ts';
import { createStreamReaders, unreadLimits } from './http/stream-readers.ts';
import type { CallVerifier } from './identity/call-verifier.ts';
import { SessionStore } from './mcp/session-store.ts';
import type { RunReader } from './monitoring/run-ring.ts';
import type { PolicyTargets } from './steps/policy-targets.ts';
import type { RunObserver } from './steps/process-call.ts';
import { createRunSlots } from './steps/run-slots.ts';
import { TaskStore, taskLimits } from './tasks/task-store.ts';

type BuildParts = {
  readonly agent: LoadedAgent;
  readonly verifier: CallVerifier;
  readonly confirmed: ReadonlySet<Capability>;
  readonly card: ServedCard | undefined;
  readonly ports: FlowPorts;
  readonly files: CallFiles;
  readonly grants: RunGrants;
  readonly checks: CheckClient;
  readonly policies: PolicyTargets;
  readonly observer: RunObserver;
  readonly runs: RunReader;
  readonly spans: Spans;
  readonly mcpConfirmers: readonly string[];
  readonly clock: Clock;
  readonly unwatchedMs: number;
};

/** Creates the server of one version. The startup check creates another one for the built-in agent. */
export function buildServer(parts: BuildParts): AgentServer {
  const { agent, verifier, confirmed, card, ports, files, grants, checks, policies, observer, runs } = parts;
  const { mcpConfirmers, clock, unwatchedMs, spans } = parts;
  const { concurrency, requestBytes } = agent.bundle.limits;
  return {
    agent,
    application: { agent, guard: { checks, policies }, files, grants, ports, observer, spans },
    verifier,
    profiles: {
      card,
      a2a: confirmed.has('a2a.message'),
      streaming: confirmed.has('a2a.streaming'),
      mcp: confirmed.has('mcp.tool'),
    },
    tasks: new TaskStore(clock),
    sessions: new SessionStore(clock),
    runs,
    slots: createRunSlots(concurrency),
    bodies: createBodyBudget(requestBytes),
    readers: createStreamReaders({ ...unreadLimits, readers: concurrency * taskLimits.readers }),
    mcpConfirmers: new Set(mcpConfirmers),
    clock,
    startedAt: clock.date(),
    unwatchedMs,
  };
}

/** The card as served, with its bytes and digest; undefined if the version has no card. */
export function serveCard(agent: LoadedAgent, confirmed: ReadonlySet<Capability>): ServedCard | undefined {
  const card = buildCard(agent, confirmed);
  if (card === undefined) return undefined;
  const bytes = canonicalBytes(card);
  return { card, bytes, digest: sha256Hex(bytes) };
}
