import type { ApiError } from '#api/operation';
import type { CatalogueErrorCode } from '#contracts/catalogue-errors';
import type { AgentPerson } from '#relations/agent-principals';

/**
 * The caller: a person, or an agent that acts for a person. A token of a trusted issuer proves both; on a development
 * machine, headers name them.
 */
export type CatalogueCaller = AgentPerson;

/** Authorizes each request separately; a token, a header or a network never makes it throw. */
export type CatalogueAuthorizer = {
  authorize(
    rawHeaders: readonly string[],
  ): Promise<{ readonly kind: 'caller'; readonly caller: CatalogueCaller } | ApiError<CatalogueErrorCode>>;
};
