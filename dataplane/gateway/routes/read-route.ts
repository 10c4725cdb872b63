import { contextHeaders, isContentProfile } from '#contracts/profiles';
import {
  type GatewayRouteSpec,
  type GuardedRoute,
  gatewayRouteSpecSchema,
  routeFormatVersion,
} from '#resources/gateway-route';
import { workloadHost, workloadNameForm } from '#resources/runtime-workload';

/** Route formats that this gateway can read. */
export const routeFormats: readonly number[] = [routeFormatVersion];

/** A valid route, or the reason why the route is invalid; `alias` is set when the spec has a readable alias. */
export type RouteParseResult =
  | { readonly ok: true; readonly spec: GatewayRouteSpec }
  | { readonly ok: false; readonly reason: string; readonly alias: string | undefined };

const credentialName = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,128}$/;

/**
 * Reads the spec of a route strictly: a route with an unknown format, an unknown field or contradicting fields is
 * rejected (docs/design/applications-and-routes.md). Reasons name fields, never values.
 * @param namespace where the workloads of the gateway's routes run
 */
export function readRoute(spec: unknown, namespace: string): RouteParseResult {
  const format = field(spec, 'formatVersion');
  const alias = field(spec, 'alias');
  const refuse = (reason: string): RouteParseResult => ({
    ok: false,
    reason,
    alias: typeof alias === 'string' ? alias : undefined,
  });
  if (typeof format !== 'number' || !routeFormats.includes(format)) return refuse('unknown_format');
  const parsed = gatewayRouteSpecSchema.safeParse(spec);
  if (!parsed.success) return refuse(`invalid_route: ${faultyFields(parsed.error.issues)}`);
  const contradiction = findContradiction(parsed.data, namespace);
  return contradiction === undefined ? { ok: true, spec: parsed.data } : refuse(`invalid_route: ${contradiction}`);
}

function findContradiction(route: GatewayRouteSpec, namespace: string): string | undefined {
  const { guardrail, upstream } = route;
  if (upstream.credential !== undefined && !credentialName.test(upstream.credential)) return 'upstream.credential';
  if (!isHttp(upstream.endpoint)) return 'upstream.endpoint';
  if (guardrail.mode === 'None') return undefined;
  const { workload } = route;
  if (workload === undefined) return 'workload';
  if (!isContentProfile(route.contentProfile)) return 'contentProfile';
  const isOfWorkload = guardrail.addresses.every((address) => leadsTo(address, workload, namespace));
  return isOfWorkload ? findHeaderContradiction(route, guardrail) : 'guardrail.addresses';
}

/** Runtime processes of `portcullis up` listen on this host. */
const loopback = ['127.0.0.1', '[::1]'];

/**
 * Whether an address is the Service of the workload or a process of this machine. The runtime token and the texts of
 * users are sent to such addresses only (docs/decisions/0024-addresses-of-workloads-follow-from-their-names.md).
 */
function leadsTo(address: string, workload: string, namespace: string): boolean {
  const url = URL.parse(address);
  if (url === null || !isHttp(address) || url.username !== '' || url.password !== '') return false;
  if (loopback.includes(url.hostname)) return true;
  return workloadNameForm.test(workload) && url.hostname === workloadHost(workload, namespace);
}

function findHeaderContradiction(route: GatewayRouteSpec, guardrail: GuardedRoute): string | undefined {
  const expected = {
    [contextHeaders.policyId]: guardrail.policyId,
    [contextHeaders.policyRevision]: guardrail.policyRevision,
    [contextHeaders.bundleDigest]: guardrail.digest,
    [contextHeaders.contentProfile]: route.contentProfile,
  };
  const wrong = Object.entries(guardrail.headers).find(([name, value]) => field(expected, name) !== value);
  return wrong === undefined ? undefined : `guardrail.headers.${wrong[0]}`;
}

function isHttp(url: string): boolean {
  const protocol = URL.parse(url)?.protocol;
  return protocol === 'http:' || protocol === 'https:';
}

function faultyFields(issues: readonly { readonly path: readonly PropertyKey[]; readonly keys?: unknown }[]): string {
  const fields = issues.flatMap(({ path, keys }) => {
    const place = path.map(String);
    return Array.isArray(keys) ? keys.map((key) => [...place, String(key)].join('.')) : [place.join('.')];
  });
  return [...new Set(fields)].slice(0, 8).join(', ');
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
