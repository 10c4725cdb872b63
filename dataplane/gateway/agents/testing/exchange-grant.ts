/** Trades a grant at the token route of a gateway. */
export async function exchangeGrant(
  gateway: string,
  { grant, audience, ...more }: { readonly grant: string; readonly audience: string } & Record<string, string>,
): Promise<{ readonly status: number; readonly json: Readonly<Record<string, unknown>> }> {
  const body = new URLSearchParams({
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    subject_token: grant,
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    audience,
    ...more,
  });
  const answer = await fetch(`${gateway}/token`, { method: 'POST', body });
  return { status: answer.status, json: (await answer.json()) as Readonly<Record<string, unknown>> };
}
