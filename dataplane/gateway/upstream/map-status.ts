import type { ClientErrorCode } from '../relay/client-error.ts';

/**
 * What a client is told of a provider's status other than 200. What concerns our credential or address is a failure of
 * ours, not of the request; redirects are never followed.
 */
export function mapUpstreamStatus(status: number): ClientErrorCode {
  switch (status) {
    case 400:
    case 413:
    case 422:
      return 'upstream_refused';
    case 408:
    case 504:
      return 'upstream_timeout';
    case 429:
      return 'upstream_rate_limited';
    case 503:
      return 'upstream_overloaded';
    default:
      return 'upstream_failed';
  }
}
