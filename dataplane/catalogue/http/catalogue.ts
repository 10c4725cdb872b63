import type { ApiRequest, ApiResponse } from '#api/operation';
import type { CatalogueErrorCode } from '#contracts/catalogue-errors';
import type { CatalogueCaller } from '../access/catalogue-caller.ts';
import type { PageCursors } from '../paging/page-cursors.ts';
import type { AgentSearchPorts } from '../search/search-agents.ts';
import type { RequestLimiter } from './limit-requests.ts';

/** The dependencies that all operations of a process share. */
export type Catalogue = AgentSearchPorts & {
  readonly limiter: RequestLimiter;
  readonly cursors: PageCursors;
  /** The reasons why the process is not ready; empty if it is ready. */
  readonly problems: () => Promise<readonly string[]>;
};

/** The versions of the API, which have the same operations (`catalogue:version:later-plan`). */
export const apiVersions = ['v1', 'v2'] as const;
export type ApiVersion = (typeof apiVersions)[number];

export type CatalogueRequest = ApiRequest<Catalogue, CatalogueCaller>;
export type CatalogueResponse = ApiResponse<CatalogueErrorCode>;
