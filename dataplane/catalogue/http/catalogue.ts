import type { ApiRequest, ApiResponse } from '#api/operation';
import type { CatalogueErrorCode } from '#contracts/catalogue-errors';
import type { Relations } from '#relations/ports';
import type { Database } from '#sql/connect';
import type { CatalogueCaller } from '../access/catalogue-caller.ts';
import type { PageCursors } from '../paging/page-cursors.ts';

/** The dependencies that all operations of a process share. */
export type Catalogue = {
  readonly database: Pick<Database, 'sql'>;
  readonly relations: Pick<Relations, 'check' | 'objectsOf'>;
  readonly cursors: PageCursors;
  /** Why the process is not ready; empty if it is. */
  readonly problems: () => Promise<readonly string[]>;
};

/** The versions of the API, which have the same operations (`catalogue:version:later-plan`). */
export const apiVersions = ['v1', 'v2'] as const;
export type ApiVersion = (typeof apiVersions)[number];

export type CatalogueRequest = ApiRequest<Catalogue, CatalogueCaller>;
export type CatalogueResponse = ApiResponse<CatalogueErrorCode>;
