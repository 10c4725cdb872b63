/** The client of Node.js ends a request whose answer has not begun, or has paused, for this long. */
const builtInMs = 300_000;

/** The part of `RequestInit` that both clients support. */
type Request = {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
  readonly signal: AbortSignal;
};

/**
 * Sends a request that only its signal ends, however long its answer takes. A redirect is an error: the credentials are
 * for this origin.
 * @param ms when the signal ends it
 */
export async function patientFetch(url: string, request: Request, ms: number): Promise<Response> {
  const init = { ...request, redirect: 'error' } as const;
  if (ms < builtInMs) return fetch(url, init);
  const { Agent, fetch: unlimited } = await import('undici');
  const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0 });
  const answer: unknown = await unlimited(url, { ...init, dispatcher });
  // Both clients implement the same standard, so that the types are compatible.
  return answer as Response;
}
