import { isShown } from '../caches.ts';
import { madeAt, policySummary } from '../policies/policy-view.ts';
import { readCursor, writeCursor } from './cursor.ts';
import type { Exchange } from './exchange.ts';
import { readLimit } from './page-query.ts';
import { ok, type Reply, refuse } from './reply.ts';

/**
 * GET /api/v1/guardrail-policies: what the watch has told, the newest policy first. A walk visits each policy that was
 * there at its beginning once, whatever is made meanwhile.
 */
export function listPolicies({ management, query }: Exchange): Reply {
  const limit = readLimit(query.get('limit') ?? undefined);
  if (limit === undefined) return refuse('invalid_query');
  const cursor = query.get('cursor');
  const after = cursor === null ? undefined : readCursor(cursor);
  if (cursor !== null && after === undefined) return refuse('cursor_invalid');
  const { caches } = management;
  const { ids, more } = caches.order.page(after, limit);
  const items = ids.flatMap((id) => {
    const policy = caches.policies.by('id', id).find(isShown);
    const newest = caches.revisions(id)[0];
    return policy === undefined || newest === undefined ? [] : [policySummary(newest, madeAt(policy.metadata))];
  });
  const last = ids.at(-1);
  return ok({ items, nextCursor: more && last !== undefined ? writeCursor(last) : null });
}
