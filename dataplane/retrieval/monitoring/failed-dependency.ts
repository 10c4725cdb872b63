import { ModelsError } from '#models/models-error';
import { RelationsUnavailableError } from '#relations/ports';
import { SearchUnavailableError } from '#search/search-error';
import type { Dependency } from '../ingest/faults.ts';
import { dependencyOf } from '../ingest/worker/dependency-of.ts';

/**
 * Dependencies of requests and attempts; `index` is the search index, `relations` the store of rights, `queue` the
 * queue of notifications.
 */
export type FailedDependency = Dependency | 'relations' | 'index' | 'queue';

export const failedDependencies: readonly FailedDependency[] = [
  'postgres',
  'objects',
  'content',
  'guard',
  'models',
  'relations',
  'index',
  'queue',
];

/**
 * The dependency that an error of a request reports as unavailable; undefined for any other error, such as a denied
 * text.
 */
export function failedDependency(error: unknown): FailedDependency | undefined {
  if (error instanceof RelationsUnavailableError) return 'relations';
  if (error instanceof SearchUnavailableError) return 'index';
  if (error instanceof ModelsError)
    return error.code === 'unavailable' || error.code === 'invalid' ? 'models' : undefined;
  return dependencyOf(error);
}
