import type { ExecutionRequest } from '#flow/engine/run-flow';

/** The key of the caller of a request, equal to `callerKey` of the identity that its context was built from. */
export function callerOfContext({ context }: Pick<ExecutionRequest, 'context'>): string {
  const { tenantId, userIssuer, userId, actors } = context;
  const chain = Array.isArray(actors) ? actors : [];
  const acting = chain.map((actor) => nameOf(actor));
  return JSON.stringify([tenantId ?? '', [[userIssuer, userId], ...acting]]);
}

function nameOf(actor: unknown): readonly unknown[] {
  const { issuer, subject } = (actor ?? {}) as { readonly issuer?: unknown; readonly subject?: unknown };
  return [issuer, subject];
}
