/** Contextual tuples of one check: the limit of the server, which no setting raises. */
const mostClaims = 100;

/**
 * The claimed groups in parts that a check may have. A right follows from one claim at a time, because the model only unites,
 * so that a subject has it if a check with one of the parts allows it.
 * @returns at least one part, which is empty without a claim
 */
export function claimParts(claimed: readonly string[]): readonly (readonly string[])[] {
  const count = Math.max(1, Math.ceil(claimed.length / mostClaims));
  return Array.from({ length: count }, (_one, at) => claimed.slice(at * mostClaims, (at + 1) * mostClaims));
}
