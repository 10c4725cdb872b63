import { confirmerName } from '#identity/mcp-confirmers';
import type { Relations } from '#relations/ports';
import type { AgentRouteSpec, RoutedVersion } from '#resources/agent-route';
import type { AgentLookup, AgentTable } from '../routes/agent-table.ts';
import { chooseVersion } from '../routes/choose-version.ts';
import type { VersionPins } from '../routes/pin-versions.ts';
import { AgentRefusal } from './agent-refusal.ts';
import { askRights } from './ask-rights.ts';
import type { AgentCaller, CallOrigin, IdentifyCaller } from './identify-caller.ts';
import { judgeRights } from './judge-rights.ts';
import type { CallerLimiter } from './limit-callers.ts';
import { cardOperation, type RoutedCall } from './parse-call.ts';

/** The inputs of the checks of a call. */
export type AdmissionParts = {
  readonly table: Pick<AgentTable, 'lookup' | 'isComplete'>;
  readonly pins: Pick<VersionPins, 'pin'>;
  readonly identify: IdentifyCaller;
  readonly callers: Pick<CallerLimiter, 'admits' | 'retryAfterSeconds'>;
  /** Questions to the store of rights; RelationsUnavailableError is thrown while there is no connection. */
  readonly relations: Pick<Relations, 'check' | 'checkerOf'>;
  /** `issuer|subject` of those who may call MCP while its profile is confirmed. */
  readonly confirmers: ReadonlySet<string>;
};

/** A call that passed every check and may get an identity (`agent-gateway:order:checks-before-identity`). */
export type AdmittedCall = {
  readonly spec: AgentRouteSpec;
  readonly version: RoutedVersion;
  /** The proved caller; undefined only for a read of a public card. */
  readonly caller: AgentCaller | undefined;
  /** The time at which the rights of the caller were read, on the clock of `performance`, milliseconds. */
  readonly askedAt: number;
  /** Holds the version. The caller of the admission disposes it when the call has ended. */
  readonly pin: Disposable;
};

/**
 * Checks identity, the rate of requests, right and route, in this order. A caller without view and invoke gets the answer of a missing agent,
 * after the same questions. The version is pinned at the moment when its route is read: a replica that reports a switch
 * later reports the version as used, so that its process is not ended before the call.
 * @throws AgentRefusal
 */
export async function admitAgentCall(
  plane: AdmissionParts,
  call: RoutedCall,
  method: string,
  origin: CallOrigin,
): Promise<AdmittedCall> {
  const { agentId, versionId, operation } = call;
  const isCard = operation === cardOperation;
  const open = isCard ? specOf(plane.table.lookup(agentId)) : undefined;
  if (open?.cards === 'Public' && plane.table.isComplete && operation.methods.includes(method)) {
    return pinned(plane, open, versionOf(open, call, undefined), undefined);
  }
  const caller = await knownCaller(plane, origin, agentId);
  if (!operation.methods.includes(method)) {
    throw new AgentRefusal('method_not_allowed', { allow: operation.methods.join(', ') });
  }
  if (!plane.table.isComplete) throw new AgentRefusal('agent_unavailable');
  const right = await askRights(() => judgeRights(plane.relations, caller, { agentId, mode: operation.mode }));
  // Read only now: the route may have switched while the caller and its rights were checked.
  const found = plane.table.lookup(agentId);
  const spec = specOf(found);
  if (right === 'none' || found.kind === 'unknown') throw new AgentRefusal('not_found');
  if (right === 'view' && !isCard) throw new AgentRefusal('forbidden');
  if (spec === undefined) throw new AgentRefusal('agent_unavailable');
  if (operation.mode === 'MCP' && spec.exposure === 'R1' && !isConfirmer(plane, caller)) {
    throw new AgentRefusal('not_found');
  }
  const subject = operation.mayTrial ? caller.subject : undefined;
  return pinned(plane, spec, versionOf(spec, { versionId, operation }, subject), caller);
}

/**
 * The caller of a request. The rate of the caller is limited before the first question about an agent, so that a hidden
 * agent and a missing one are refused in the same way.
 * @throws AgentRefusal
 */
export async function knownCaller(
  { identify, callers }: Pick<AdmissionParts, 'identify' | 'callers'>,
  origin: CallOrigin,
  agentId: string,
): Promise<AgentCaller> {
  const caller = await identify(origin, agentId);
  if (caller.kind === 'refused') throw new AgentRefusal(caller.code);
  if (callers.admits(caller)) return caller;
  throw new AgentRefusal('rate_limited', { 'retry-after': String(callers.retryAfterSeconds) });
}

/** A call that may be forwarded: its version is in use from now on. */
export function pinned<Caller extends AgentCaller | undefined>(
  { pins }: AdmissionParts,
  spec: AgentRouteSpec,
  version: RoutedVersion,
  caller: Caller,
) {
  const pin = pins.pin({ agentId: spec.agentId, versionId: version.versionId });
  return { spec, version, caller, pin, askedAt: performance.now() };
}

function specOf(found: AgentLookup): AgentRouteSpec | undefined {
  return found.kind === 'route' ? found.route.spec : undefined;
}

function versionOf(
  spec: AgentRouteSpec,
  { versionId, operation }: Pick<RoutedCall, 'versionId' | 'operation'>,
  subject: AgentCaller['subject'] | undefined,
): RoutedVersion {
  const version = chooseVersion(spec, versionId, subject);
  if (version === undefined) throw new AgentRefusal(versionId === undefined ? 'agent_unavailable' : 'not_found');
  if (!version.modes.includes(operation.mode)) throw new AgentRefusal('not_found');
  return version;
}

/** MCP is confirmed by people that the environment lists (`agents:mcp-auth:r1-only`). */
function isConfirmer({ confirmers }: AdmissionParts, { subject }: AgentCaller): boolean {
  return confirmers.has(confirmerName(subject));
}
