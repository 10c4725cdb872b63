import { expect, test } from 'vitest';
import { ModelsError } from '#models/models-error';
import { ObjectsUnavailableError } from '#objects/objects-error';
import { RelationsUnavailableError } from '#relations/ports';
import { SearchUnavailableError } from '#search/search-error';
import { SqlUnavailableError } from '#sql/connect';
import { DependencyUnavailableError } from '../ingest/faults.ts';
import { failedDependency } from './failed-dependency.ts';

test('an error is counted for the unavailable dependency, and a refusal of a text is counted for no dependency', () => {
  const found = [
    new SqlUnavailableError('lost'),
    new ObjectsUnavailableError('unreachable'),
    new RelationsUnavailableError('lost'),
    new SearchUnavailableError('behind'),
    new ModelsError('unavailable'),
    new ModelsError('invalid'),
    new DependencyUnavailableError('guard'),
    new ModelsError('denied'),
    new ModelsError('refused'),
    new TypeError('defect'),
  ].map(failedDependency);
  expect(found).toEqual([
    'postgres',
    'objects',
    'relations',
    'index',
    'models',
    'models',
    'guard',
    undefined,
    undefined,
    undefined,
  ]);
});
