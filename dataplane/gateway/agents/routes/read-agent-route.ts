import { type AgentRouteSpec, agentRouteFormat, agentRouteSpecSchema } from '#resources/agent-route';

/** A valid route of an agent, or the reason why it is rejected; a reason names fields, never their values. */
export type ReadAgentRoute =
  | { readonly ok: true; readonly spec: AgentRouteSpec }
  | { readonly ok: false; readonly reason: string };

const loopback = ['127.0.0.1', '[::1]', 'localhost'];

/**
 * Reads the spec of a route strictly. Calls and their identities are sent to the addresses of a route, so that these must
 * be Services of the namespace or processes of this machine.
 */
export function readAgentRoute(spec: unknown, namespace: string): ReadAgentRoute {
  const refuse = (reason: string): ReadAgentRoute => ({ ok: false, reason });
  const format = typeof spec === 'object' && spec !== null ? Reflect.get(spec, 'formatVersion') : undefined;
  if (format !== agentRouteFormat) return refuse('unknown_format');
  const parsed = agentRouteSpecSchema.safeParse(spec);
  if (!parsed.success) {
    const fields = [...new Set(parsed.error.issues.map(({ path }) => path.join('.')))];
    return refuse(`invalid_route: ${fields.slice(0, 8).join(', ')}`);
  }
  const { versions, served, canary } = parsed.data;
  const ids = versions.map(({ versionId }) => versionId);
  if (new Set(ids).size !== ids.length) return refuse('invalid_route: versions');
  if (served !== undefined && !ids.includes(served)) return refuse('invalid_route: served');
  if (canary !== undefined && (!ids.includes(canary.versionId) || canary.versionId === served)) {
    return refuse('invalid_route: canary');
  }
  // An image without guardrails would get texts that are neither judged nor declared unguarded.
  const isHalf = versions.findIndex(({ guardrails, sdk }) => (guardrails === undefined) !== (sdk === undefined));
  if (isHalf >= 0) return refuse(`invalid_route: versions.${isHalf}.guardrails`);
  const isWithoutTool = versions.findIndex(
    ({ sdk, modes }) => sdk !== undefined && modes.includes('MCP') !== (sdk.tool !== undefined),
  );
  if (isWithoutTool >= 0) return refuse(`invalid_route: versions.${isWithoutTool}.sdk`);
  const at = versions.findIndex(({ address }) => !isOfNamespace(address, namespace));
  if (at >= 0) return refuse(`invalid_route: versions.${at}.address`);
  const isWithoutCard = versions.findIndex(
    ({ modes, cardDigest }) => modes.includes('A2A') && cardDigest === undefined,
  );
  return isWithoutCard < 0
    ? { ok: true, spec: parsed.data }
    : refuse(`invalid_route: versions.${isWithoutCard}.cardDigest`);
}

function isOfNamespace(address: string, namespace: string): boolean {
  const url = URL.parse(address);
  if (url === null || url.username !== '' || url.password !== '' || `${url.origin}/` !== url.href) return false;
  return loopback.includes(url.hostname) || /^[a-z0-9-]+$/.test(url.hostname.replace(`.${namespace}.svc`, ''));
}
