import type { ClientErrorCode } from '../relay/client-error.ts';

/**
 * The error code for a status of a provider other than 200. A status about the gateway's credential or address is a
 * failure of the gateway, not of the request; redirects are never followed.
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
