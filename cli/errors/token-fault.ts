type Claims = { readonly [name in 'exp' | 'nbf' | 'iat' | 'iss' | 'sub' | 'act']?: unknown };

/** Tolerated clock skew. */
const toleratedSkewSeconds = 60;

/**
 * Explains from the times of a refused token why it was refused, as a sentence with the remedy; undefined when the
 * times do not explain it. The token is not verified: the sentence is only shown to its holder.
 * @param serverDate the Date header of the refusal
 */
export function tokenFault(token: string, now: Date, serverDate?: string): string | undefined {
  const claims = unverifiedClaims(token);
  const seconds = now.getTime() / 1_000;
  const skew = skewOf(now, serverDate);
  if (typeof claims.exp === 'number' && claims.exp <= seconds) {
    return `The token expired at ${timeOf(claims.exp)}: get a new one${skew === undefined ? '' : `. ${skew}`}.`;
  }
  const from = typeof claims.nbf === 'number' ? claims.nbf : claims.iat;
  if (typeof from === 'number' && from > seconds + toleratedSkewSeconds) {
    return `The token is not valid before ${timeOf(from)}, and the clock of this machine says ${timeOf(seconds)}: set the clock of the machine that issued it, or of this one.`;
  }
  return skew === undefined ? undefined : `${skew}.`;
}

function skewOf(now: Date, serverDate: string | undefined): string | undefined {
  const difference = Math.round((now.getTime() - Date.parse(serverDate ?? '')) / 1_000);
  if (!(Math.abs(difference) > toleratedSkewSeconds)) return undefined;
  const direction = difference > 0 ? 'ahead of' : 'behind';
  return `The clock of this machine is ${Math.abs(difference)} s ${direction} that of the server: set the clock`;
}

function timeOf(seconds: number): string {
  return new Date(seconds * 1_000).toISOString();
}

/** The claims of a JWT, which are not verified; empty for any other token. */
export function unverifiedClaims(token: string): Claims {
  try {
    const claims: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'));
    return typeof claims === 'object' && claims !== null ? claims : {};
  } catch {
    return {};
  }
}
