import type { Exchange } from './exchange.ts';
import { ok, type Reply } from './reply.ts';

/** GET /api/v1/guardrail-providers: the approved external checks of this environment, without secrets or addresses. */
export function listProviders({ management }: Exchange): Reply {
  return ok(management.providers);
}
