/** Maximum number of contextual tuples in one check; no setting of the server raises this limit. */
const mostClaims = 100;

/**
 * The claimed groups in parts that a check may have. The model has only unions, so that a right always follows from a
 * single claim: a subject has the right if a check with one of the parts allows it.
 * @returns at least one part; without claims, one empty part
 */
export function claimParts(claimed: readonly string[]): readonly (readonly string[])[] {
  const count = Math.max(1, Math.ceil(claimed.length / mostClaims));
  return Array.from({ length: count }, (_one, at) => claimed.slice(at * mostClaims, (at + 1) * mostClaims));
}
