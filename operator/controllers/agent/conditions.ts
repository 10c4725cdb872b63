import type { ConditionChange } from '#kube/apply/conditions';
import type { AgentResult, RouteState } from './decide.ts';
import type { AgentSnapshot, VersionView } from './snapshot.ts';

type Aspect = Omit<ConditionChange, 'observedGeneration'>;
type Routed = Extract<AgentResult, { readonly kind: 'routed' }>;
type Facts = Pick<AgentSnapshot, 'spec' | 'served' | 'canary' | 'rights' | 'generation'>;

/** The conditions of an Agent at the end of a pass, summary first. While the Agent is deleted, only Ready changes. */
export function agentConditions(result: AgentResult, facts: Facts): readonly ConditionChange[] {
  return aspectsOf(result, facts).map((aspect) => ({ ...aspect, observedGeneration: facts.generation }));
}

function aspectsOf(result: AgentResult, facts: Facts): readonly Aspect[] {
  switch (result.kind) {
    case 'leaving': {
      const count = result.replicas.length;
      const replicas = count === 1 ? '1 gateway replica' : `${count} gateway replicas`;
      return [no('Ready', 'Draining', `The deletion waits for ${replicas}.`)];
    }
    case 'not_configured': {
      const message = 'This installation does not run agents.';
      return [
        no('Ready', 'AgentsNotConfigured', message),
        no('RouteAccepted', 'AgentsNotConfigured', message),
        no('AccessConsistent', 'AgentsNotConfigured', message),
      ];
    }
    case 'routed': {
      const route = routeOf(result);
      const access = accessOf(facts.rights);
      return [readyOf(result, facts, route, access), route, access];
    }
  }
}

function no(type: string, reason: string, message: string): Aspect {
  return { type, status: 'False', reason, message };
}

function yes(type: string, reason: string, message: string): Aspect {
  return { type, status: 'True', reason, message };
}

function unknown(type: string, reason: string, message: string): Aspect {
  return { type, status: 'Unknown', reason, message };
}

function routeOf({ route, state }: Routed): Aspect {
  const type = 'RouteAccepted';
  const { refused } = route ?? {};
  if (refused !== undefined) {
    return no(
      type,
      'RouteRejected',
      `A gateway replica rejected the change, so the previous route was restored: ${refused.reason}.`,
    );
  }
  return stateAspect(type, state);
}

function stateAspect(type: string, state: RouteState): Aspect {
  switch (state.kind) {
    case 'none':
      return no(type, 'NoRoute', 'The agent has no route yet.');
    case 'no_replica':
      return unknown(type, 'NoAgentReplica', 'No ready gateway replica serves agents.');
    case 'waiting':
      return unknown(
        type,
        'WaitingForReplicas',
        `${state.missing} of ${state.replicas} ready gateway replicas have not loaded the route.`,
      );
    case 'rejected':
      return no(type, 'RouteRejected', `A gateway replica rejects the route: ${state.reason}.`);
    case 'confirmed':
      return yes(type, 'Confirmed', 'Every ready gateway replica has loaded the route.');
  }
}

function accessOf(rights: AgentSnapshot['rights']): Aspect {
  const type = 'AccessConsistent';
  switch (rights) {
    case 'not_configured':
      return no(type, 'RelationsNotConfigured', 'This operator has no store of rights.');
    case 'invalid':
      return no(
        type,
        'AccessInvalid',
        'A name in owner or access is too long for the store of rights. It gives no right; the other rights match the spec.',
      );
    case 'away':
      return unknown(type, 'RelationsUnavailable', 'The store of rights does not answer. The operator will try again.');
    case 'refused':
      return unknown(
        type,
        'RelationsMismatch',
        'The tables of the store of rights do not match this release. The log of the operator names the file.',
      );
    case 'unasked':
    case 'consistent':
      return yes(type, 'Consistent', 'The stored rights match the spec.');
  }
}

function readyOf({ route, state }: Routed, facts: Facts, accepted: Aspect, access: Aspect): Aspect {
  const type = 'Ready';
  const { spec, served, canary } = facts;
  const isServed = 'versionId' in served && route?.served === served.versionId;
  const fault = versionFault('version', spec.version, served);
  if (!isServed && fault !== undefined) return no(type, ...fault);
  if (route?.refused !== undefined) return { ...accepted, type };
  if (access.status !== 'True') return { ...access, type, status: 'False' };
  if (state.kind !== 'confirmed') return { ...accepted, type, status: 'False' };
  if (served.kind === 'deleting') return no(type, ...(fault ?? ['VersionDeleting', 'The version is being deleted.']));
  if (served.kind !== 'proved' && fault !== undefined) return no(type, ...fault);
  if (spec.canary !== undefined && canary !== undefined) {
    const onTrial = versionFault('canary', spec.canary.version, canary);
    if (onTrial !== undefined) return no(type, onTrial[0].replace('Version', 'Canary'), onTrial[1]);
  }
  return yes(type, 'Ready', 'The version is served.');
}

/** Why a version cannot begin to be served; undefined if it can. */
function versionFault(member: string, name: string, view: VersionView): readonly [string, string] | undefined {
  switch (view.kind) {
    case 'absent':
      return ['VersionNotFound', `${member}: there is no AgentVersion ${name}.`];
    case 'foreign':
      return ['VersionOfOtherAgent', `${member}: the AgentVersion ${name} is a version of the agent ${view.agent}.`];
    case 'deleting':
      return ['VersionDeleting', `${member}: the AgentVersion ${name} is being deleted.`];
    case 'unready': {
      const why = view.message === undefined ? '.' : `: ${view.message}`;
      return ['VersionNotReady', `${member}: the AgentVersion ${name} is not ready${why}`];
    }
    case 'proved':
      return undefined;
  }
}
