import type { FailingProvider } from '#contracts/failing-provider';
import { ObjectsUnavailableError } from '#objects/objects-error';
import { SqlUnavailableError } from '#sql/connect';
import { type Dependency, DependencyUnavailableError, GuardUnavailableError } from '../faults.ts';

/** The dependency that an error reports as unavailable; undefined for any other error. */
export function dependencyOf(error: unknown): Dependency | undefined {
  if (error instanceof DependencyUnavailableError) return error.dependency;
  if (error instanceof SqlUnavailableError) return 'postgres';
  return error instanceof ObjectsUnavailableError ? 'objects' : undefined;
}

/** The detector or classifier whose missing judgement is the error; undefined for any other error. */
export function failingProviderIn(error: unknown): FailingProvider | undefined {
  return error instanceof GuardUnavailableError ? error.provider : undefined;
}
