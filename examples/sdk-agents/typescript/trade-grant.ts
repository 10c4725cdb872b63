const timeoutMs = 10_000;
const maxCode = /^[a-z_]{1,64}$/;

/**
 * The gateway gives no token. `invalid_grant`: the run has ended, or the person may no longer invoke the agent.
 * `invalid_target`: the version does not require the audience. `temporarily_unavailable`: try again.
 */
export class ExchangeRefused extends Error {
  readonly code: string;

  constructor(code: string) {
    super(`the gateway gives no token: ${code}`);
    this.name = 'ExchangeRefused';
    this.code = code;
  }
}

/**
 * Trades the grant of a run for a token of one audience (RFC 8693).
 * @param gateway base URL of the agent gateway, which ends with a slash
 * @throws ExchangeRefused
 */
export async function tradeGrant(gateway: URL, grant: string | undefined, audience: string): Promise<string> {
  if (grant === undefined) throw new ExchangeRefused('invalid_grant');
  const body = new URLSearchParams({
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    subject_token: grant,
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    audience,
  });
  let answer: Response;
  let json: { readonly access_token?: unknown; readonly error?: unknown };
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    answer = await fetch(new URL('token', gateway), { method: 'POST', body, redirect: 'error', signal });
    json = (await answer.json()) as typeof json;
  } catch {
    throw new ExchangeRefused('temporarily_unavailable');
  }
  if (answer.ok && typeof json.access_token === 'string') return json.access_token;
  throw new ExchangeRefused(maxCode.test(String(json.error)) ? String(json.error) : 'temporarily_unavailable');
}
