import { agentLimits } from '#resources/agent';
import { type AgentRouteSpec, agentRouteFormat, type RoutedVersion } from '#resources/agent-route';
import type { AgentSnapshot, VersionView } from './snapshot.ts';

/** The route of this Agent; a route of a deleted Agent of the same name is not used. */
export function ownRoute({ route }: Pick<AgentSnapshot, 'route'>): AgentRouteSpec | undefined {
  return route === 'foreign' ? undefined : route;
}

/**
 * The route that the replicas should load. A version is served or tried only when its probe has succeeded and no
 * replica has rejected it; until then the current version stays in the route. Until a change is confirmed, the
 * previously confirmed versions stay listed, so that the change can be undone.
 */
export function planRoute(s: AgentSnapshot): AgentRouteSpec {
  const route = ownRoute(s);
  const refused = refusedNow(s);
  const isRefused = (id: string): boolean => refused?.versionIds.includes(id) === true;
  const known = new Map(s.listed.map((version) => [version.versionId, version]));
  for (const view of [s.served, s.canary]) if (view?.kind === 'proved') known.set(view.versionId, view.routed);
  const canStay = (id: string | undefined): id is string => id !== undefined && known.has(id) && !isRefused(id);

  const served = isUsable(s.served, isRefused)
    ? s.served.versionId
    : [route?.served, s.confirmed.served?.versionId].find(canStay);
  const canary = trialOf(s, isRefused, canStay, served);
  const previous = previousVersions(s, served, canary?.versionId).filter(canStay);
  const kept = previous.slice(0, s.spec.keep ?? agentLimits.keep.default);
  const confirmed = [s.confirmed.served?.versionId, s.confirmed.canary?.versionId].filter(canStay);
  const ids = new Set([served, canary?.versionId, ...confirmed, ...kept].filter((id) => id !== undefined));
  return {
    formatVersion: agentRouteFormat,
    ...s.identity,
    ...(served === undefined ? {} : { served }),
    ...(canary === undefined ? {} : { canary }),
    versions: [...ids]
      .flatMap((id): RoutedVersion | readonly RoutedVersion[] => known.get(id) ?? [])
      .slice(0, maxListed),
    cards: s.spec.cards ?? 'View',
    ...(refused === undefined ? {} : { refused }),
  };
}

/** The limit of `spec.versions` of a route. */
const maxListed = agentLimits.keep.max + 2;

/** The versions that were served before, newest first. */
export function previousVersions(
  { confirmed }: Pick<AgentSnapshot, 'confirmed'>,
  served: string | undefined,
  canary: string | undefined,
): readonly string[] {
  const ids = [confirmed.served?.versionId, ...(confirmed.previous ?? []).map(({ versionId }) => versionId)];
  return [...new Set(ids)].filter((id) => id !== undefined && id !== served && id !== canary) as readonly string[];
}

/**
 * The versions that this generation of the Agent must not begin to use, because a replica rejected a route that began
 * to use them; undefined if there are none. A replica that cannot read the form of a route belongs to another release,
 * and its rejection says nothing about a version: the route stays, and the replica that replaces it loads the route.
 */
function refusedNow(s: AgentSnapshot): AgentRouteSpec['refused'] {
  const route = ownRoute(s);
  if (route === undefined) return undefined;
  const { refused } = route;
  const before = refused?.generation === s.generation && !isOfForm(refused.reason) ? refused : undefined;
  const reason = s.replicas.find(
    ({ ready, rejected }) => ready && rejected !== undefined && !isOfForm(rejected),
  )?.rejected;
  const begun = begunBy(s, route);
  if (reason === undefined || begun.length === 0) return before;
  return { generation: s.generation, versionIds: [...begun], reason: reason.slice(0, maxReason) };
}

const maxReason = 1_024;

/** Whether a replica gives this reason for a route whose form it cannot read. */
function isOfForm(reason: string): boolean {
  return reason === 'unknown_format' || reason.startsWith('invalid_route');
}

/** The versions that the route began to serve or to try since it was confirmed last. */
function begunBy({ confirmed }: Pick<AgentSnapshot, 'confirmed'>, route: AgentRouteSpec): readonly string[] {
  const known = [confirmed.served, confirmed.canary, ...(confirmed.previous ?? [])].map((one) => one?.versionId);
  return [route.served, route.canary?.versionId].filter((id) => id !== undefined && !known.includes(id)) as string[];
}

function isUsable(
  view: VersionView | undefined,
  isRefused: (id: string) => boolean,
): view is Extract<VersionView, { kind: 'proved' }> {
  return view?.kind === 'proved' && !isRefused(view.versionId);
}

/** A trial in progress stays while its version is not ready, and changes its share immediately. */
function trialOf(
  { spec, canary: view, ...s }: AgentSnapshot,
  isRefused: (id: string) => boolean,
  canStay: (id: string) => boolean,
  served: string | undefined,
): AgentRouteSpec['canary'] {
  if (spec.canary === undefined || view === undefined || !('versionId' in view)) return undefined;
  const { versionId } = view;
  const isRunning = ownRoute(s)?.canary?.versionId === versionId && canStay(versionId);
  if (versionId === served || served === undefined || !(isUsable(view, isRefused) || isRunning)) return undefined;
  return { versionId, percent: spec.canary.percent };
}
