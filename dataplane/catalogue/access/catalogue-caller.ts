import type { ApiError } from '#api/operation';
import type { CatalogueErrorCode } from '#contracts/catalogue-errors';
import type { AgentPerson } from '#relations/agent-principals';

/** The caller: a person, or an agent for a person. Both are proved by a token of a trusted issuer, or by headers on one machine. */
export type CatalogueCaller = AgentPerson;

/** Authorizes each request separately; a token, a header or a network never makes it throw. */
export type CatalogueAuthorizer = {
  authorize(
    rawHeaders: readonly string[],
  ): Promise<{ readonly kind: 'caller'; readonly caller: CatalogueCaller } | ApiError<CatalogueErrorCode>>;
};
