import type { VersionVerdict } from '../../agents/checking/version-check.ts';
import type { AgentObservation } from '../../agents/ports.ts';
import type { AgentVersionSnapshot } from './snapshot.ts';

export type AgentVersionResult =
  | Extract<VersionVerdict, { readonly kind: 'refused' }>
  | { readonly kind: 'differs'; readonly differences: readonly string[] }
  | { readonly kind: 'late' }
  | { readonly kind: 'tests_failed'; readonly tests: number; readonly failed: readonly string[] }
  | { readonly kind: 'not_configured'; readonly tests: number }
  | { readonly kind: 'running'; readonly tests: number; readonly hasCard: boolean; readonly observed: AgentObservation }
  /** The deletion waits for runs. */
  | { readonly kind: 'draining'; readonly runs: number };

type AgentVersionStep =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'check' }
  /** Adds the finalizer before a process starts, so that the process ends before the resource is deleted. */
  | { readonly kind: 'adopt' }
  | { readonly kind: 'run' }
  /** Ends the process and removes the finalizer. */
  | { readonly kind: 'let_go' }
  | { readonly kind: 'settle'; readonly result: AgentVersionResult };

/** The next step of a version (docs/design/agent-versions.md). */
export function decideAgentVersion(s: AgentVersionSnapshot): AgentVersionStep {
  if (s.deleting) return leave(s);
  const { outcome, observed } = s;
  if (outcome === undefined) return { kind: 'check' };
  if (outcome.kind !== 'loaded') return settle(outcome);
  if (s.differences.length > 0) return settle({ kind: 'differs', differences: s.differences });
  const { tests, failed, published } = outcome;
  if (failed.length > 0) return settle({ kind: 'tests_failed', tests, failed });
  if (!s.isConfigured) return settle({ kind: 'not_configured', tests });
  if (!s.hasFinalizer) return { kind: 'adopt' };
  if (observed === undefined) return { kind: 'run' };
  return settle({ kind: 'running', tests, hasCard: published.hasCard, observed });
}

function leave({ hasFinalizer, observed, deletingMs, drainMs }: AgentVersionSnapshot): AgentVersionStep {
  if (!hasFinalizer) return { kind: 'nothing' };
  const runs = observed?.state?.runs ?? 0;
  return runs > 0 && deletingMs < drainMs ? settle({ kind: 'draining', runs }) : { kind: 'let_go' };
}

function settle(result: AgentVersionResult): AgentVersionStep {
  return { kind: 'settle', result };
}
