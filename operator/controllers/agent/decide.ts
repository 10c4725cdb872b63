import { sameJson } from '#kube/apply/same-json';
import type { AgentRouteSpec } from '#resources/agent-route';
import { ownRoute, planRoute } from './plan-route.ts';
import type { AgentSnapshot } from './snapshot.ts';

/** The reports of the replicas about the current route. */
export type RouteState =
  | { readonly kind: 'none' }
  /** No ready replica serves agents. */
  | { readonly kind: 'no_replica' }
  | { readonly kind: 'waiting'; readonly missing: number; readonly replicas: number }
  | { readonly kind: 'rejected'; readonly reason: string }
  | { readonly kind: 'confirmed' };

export type AgentResult =
  | { readonly kind: 'not_configured' }
  /** The deletion waits for calls in flight, or for replicas that have not seen it. */
  | { readonly kind: 'leaving'; readonly replicas: readonly string[] }
  | { readonly kind: 'routed'; readonly route: AgentRouteSpec | undefined; readonly state: RouteState };

type AgentStep =
  | { readonly kind: 'nothing' }
  /** Adds the finalizer before rights are granted and a route is written. */
  | { readonly kind: 'adopt' }
  /** Changes the rights in the store of relations to those of the spec. */
  | { readonly kind: 'grant' }
  | { readonly kind: 'write'; readonly spec: AgentRouteSpec }
  /** Deletes the route. */
  | { readonly kind: 'withdraw' }
  /** Removes the finalizer. */
  | { readonly kind: 'let_go' }
  | { readonly kind: 'settle'; readonly result: AgentResult };

/** The next step of an Agent (docs/design/agent-routes.md). */
export function decideAgent(s: AgentSnapshot): AgentStep {
  if (s.deleting) return leave(s);
  if (!s.isConfigured) return settle({ kind: 'not_configured' });
  if (!s.hasFinalizer) return { kind: 'adopt' };
  if (s.route === 'foreign') return { kind: 'withdraw' };
  if (s.rights === 'unasked') return { kind: 'grant' };
  const { route } = s;
  const spec = planRoute(s);
  const isWritten = route !== undefined && sameJson(route, spec);
  // Without a route no call is possible yet, and the rights of an earlier Agent with this name may still be stored.
  const mayWrite = route !== undefined || (spec.served !== undefined && s.rights === 'consistent');
  if (!isWritten && mayWrite) return { kind: 'write', spec };
  return settle({ kind: 'routed', route, state: stateOf(s) });
}

function leave(s: AgentSnapshot): AgentStep {
  if (!s.hasFinalizer) return { kind: 'nothing' };
  if (s.route !== undefined) return { kind: 'withdraw' };
  return s.users.length > 0 ? settle({ kind: 'leaving', replicas: s.users }) : { kind: 'let_go' };
}

function stateOf(s: AgentSnapshot): RouteState {
  if (ownRoute(s) === undefined) return { kind: 'none' };
  const ready = s.replicas.filter((replica) => replica.ready);
  const [rejecting] = ready.filter(({ rejected }) => rejected !== undefined);
  if (rejecting?.rejected !== undefined) return { kind: 'rejected', reason: rejecting.rejected };
  if (ready.length === 0) return { kind: 'no_replica' };
  const missing = ready.filter(({ loaded }) => !loaded).length;
  return missing === 0 ? { kind: 'confirmed' } : { kind: 'waiting', missing, replicas: ready.length };
}

function settle(result: AgentResult): AgentStep {
  return { kind: 'settle', result };
}
