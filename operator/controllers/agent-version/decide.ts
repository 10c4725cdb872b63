import type { VersionVerdict } from '../../agents/checking/version-check.ts';
import type { AgentObservation } from '../../agents/ports.ts';
import type { AgentVersionSnapshot } from './snapshot.ts';

export type AgentVersionResult =
  | Extract<VersionVerdict, { readonly kind: 'refused' }>
  | { readonly kind: 'differs'; readonly differences: readonly string[] }
  | { readonly kind: 'late' }
  | { readonly kind: 'tests_failed'; readonly tests: number; readonly failed: readonly string[] }
  | { readonly kind: 'not_configured'; readonly tests: number }
  /** The version is an image, and this installation runs flows only. */
  | { readonly kind: 'no_images' }
  | {
      readonly kind: 'running';
      readonly tests: number;
      readonly hasCard: boolean;
      readonly observed: AgentObservation;
      readonly missing: readonly string[];
    }
  /** The deletion waits until the route of the agent no longer lists the version, whose process may be unavailable. */
  | { readonly kind: 'held'; readonly agent: string; readonly observed: AgentObservation | undefined }
  /** The deletion waits for gateway replicas. */
  | { readonly kind: 'called'; readonly replicas: number }
  /** The deletion of the version waits until its runs have ended. */
  | { readonly kind: 'draining'; readonly runs: number };

type AgentVersionStep =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'check' }
  /** Adds the finalizer before a process starts, so that the process ends before the resource is deleted. */
  | { readonly kind: 'adopt' }
  | { readonly kind: 'run' }
  /** The state of the process is not known yet: waits for its first observation, or for a time. */
  | { readonly kind: 'wait'; readonly afterMs?: number }
  /** Ends the process of the version, then removes the finalizer of the AgentVersion. */
  | { readonly kind: 'let_go' }
  | { readonly kind: 'settle'; readonly result: AgentVersionResult };

/** The next step of a version (docs/design/agent-versions.md). */
export function decideAgentVersion(s: AgentVersionSnapshot): AgentVersionStep {
  if (s.deleting) return leave(s);
  const { outcome, observed } = s;
  if (s.isForeignImage) return settle({ kind: 'no_images' });
  if (outcome === undefined) return { kind: 'check' };
  if (outcome.kind !== 'loaded') return settle(outcome);
  if (s.differences.length > 0) return settle({ kind: 'differs', differences: s.differences });
  const { tests, failed, published } = outcome;
  if (failed.length > 0) return settle({ kind: 'tests_failed', tests, failed });
  if (!s.isConfigured) return settle({ kind: 'not_configured', tests });
  if (!s.hasFinalizer) return { kind: 'adopt' };
  if (!s.isWanted) return { kind: 'run' };
  if (observed === undefined) return { kind: 'wait' };
  return settle({ kind: 'running', tests, hasCard: published.modes.includes('A2A'), observed, missing: s.missing });
}

/** How long a deletion waits for an observation of a process that may still run, milliseconds. */
const observationMs = 10_000;
const lookAgainMs = 500;

function leave(s: AgentVersionSnapshot): AgentVersionStep {
  const { hasFinalizer, routedBy, users, mayRun, observed, deletingMs, drainMs } = s;
  if (!hasFinalizer) return { kind: 'nothing' };
  if (routedBy !== undefined) return hold(s, routedBy);
  if (users.length > 0) return settle({ kind: 'called', replicas: users.length });
  if (mayRun && observed === undefined && deletingMs < Math.min(drainMs, observationMs)) {
    return { kind: 'wait', afterMs: lookAgainMs };
  }
  const runs = observed?.state?.runs ?? 0;
  return runs > 0 && deletingMs < drainMs ? settle({ kind: 'draining', runs }) : { kind: 'let_go' };
}

/**
 * The process of a version that its agent serves keeps running, even after a restart of the operator. An unknown state
 * does not replace a known state.
 */
function hold(s: AgentVersionSnapshot, agent: string): AgentVersionStep {
  const { outcome, observed } = s;
  if (s.isConfigured && !s.isForeignImage && !s.isWanted) {
    if (outcome === undefined) return { kind: 'check' };
    const passes = outcome.kind === 'loaded' && outcome.failed.length === 0 && s.differences.length === 0;
    if (passes) return { kind: 'run' };
  }
  if (s.mayRun && observed === undefined) return { kind: 'wait', afterMs: lookAgainMs };
  return settle({ kind: 'held', agent, observed });
}

function settle(result: AgentVersionResult): AgentVersionStep {
  return { kind: 'settle', result };
}
