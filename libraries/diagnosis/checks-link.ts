import { type Conditioned, declaredLink } from './explain-declared.ts';
import type { Link } from './links.ts';

/**
 * Whether the detectors and classifiers of its policies judge. Absent where an earlier operator wrote the status, and while
 * nothing reports it.
 */
export function checksLink(resource: Conditioned): readonly Link[] {
  const link = declaredLink(resource, 'Checks', 'ProviderReachable');
  return link.state === 'open' ? [] : [link];
}
