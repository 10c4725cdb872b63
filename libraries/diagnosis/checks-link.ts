import { type Conditioned, declaredLink } from './explain-declared.ts';
import type { Link } from './links.ts';

/**
 * Whether the detectors and classifiers of its policies return judgements. Absent if an earlier operator wrote the
 * status, or if no process reports this.
 */
export function checksLink(resource: Conditioned): readonly Link[] {
  const link = declaredLink(resource, 'Checks', 'ProviderReachable');
  return link.state === 'open' ? [] : [link];
}
