import { overrideFreezeHeader } from '#contracts/freezes';
import type { controlRoles } from '#contracts/rights';
import type { JsonRequest } from '../http/exchange-json.ts';

export type NeededRole = {
  readonly role: (typeof controlRoles)[number];
  /**
   * The policy or model for which the role is enough; absent where the role must be for all. The id is absent where the
   * request does not name it.
   */
  readonly of?: { readonly option: '--policy' | '--model'; readonly id?: string };
};

const id = '([^/]+)';
const policies = new RegExp(`^(?:dry-runs/)?guardrail-policies(?:/${id})?(?:/|$)`);
const diffs = new RegExp(`^policy-diffs/${id}$`);
const bindings = new RegExp(`^(?:dry-runs/)?models/${id}/guardrail-binding$`);
const administration = /^(?:audit|rights|provider-test|policy-purges)(?:\/|$)/;

/**
 * The smallest role that permits a request to the management API. For an approval, this is the role for a command on a
 * model.
 */
export function neededRole({
  method,
  path,
  headers = {},
}: Pick<JsonRequest, 'method' | 'path' | 'headers'>): NeededRole {
  const route = path.replace(/^\/api\/v1\//, '').replace(/\?.*$/s, '');
  if (administration.test(route) || headers[overrideFreezeHeader] !== undefined) return { role: 'administrator' };
  const isRead = method === 'GET';
  const policy = policies.exec(route) ?? diffs.exec(route);
  if (policy !== null) return limited(isRead ? 'viewer' : 'author', '--policy', policy[1]);
  const binding = bindings.exec(route);
  if (binding !== null) return limited(isRead ? 'viewer' : 'applier', '--model', binding[1]);
  if (isRead) return { role: 'viewer' };
  if (route === 'policy-checks') return { role: 'author', of: { option: '--policy' } };
  if (route.startsWith('approvals/')) return { role: 'applier', of: { option: '--model' } };
  return { role: 'administrator' };
}

function limited(role: NeededRole['role'], option: '--policy' | '--model', of: string | undefined): NeededRole {
  return of === undefined ? { role } : { role, of: { option, id: decodeURIComponent(of) } };
}
