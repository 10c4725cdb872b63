/** Why a server could not be reached. */
export type ConnectionFault =
  | 'name_not_found'
  | 'refused'
  | 'certificate_untrusted'
  | 'certificate_expired'
  | 'certificate_wrong_host'
  | 'tls'
  | 'timeout'
  | 'network';

const named: Readonly<Record<string, ConnectionFault>> = {
  ENOTFOUND: 'name_not_found',
  EAI_AGAIN: 'name_not_found',
  ECONNREFUSED: 'refused',
  ETIMEDOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  TimeoutError: 'timeout',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'certificate_untrusted',
  INVALID_CA: 'certificate_untrusted',
  CERT_HAS_EXPIRED: 'certificate_expired',
  CERT_NOT_YET_VALID: 'certificate_expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'certificate_wrong_host',
  HOSTNAME_MISMATCH: 'certificate_wrong_host',
};
const certificateCode = /^(CERT_|SELF_SIGNED_CERT|UNABLE_TO_(GET|VERIFY|DECODE|DECRYPT)_)/;
const tlsCode = /^(ERR_SSL_|ERR_TLS_|EPROTO$)/;

/** The cause of a failed connection, from the error of Node.js or undici and the errors that caused it. */
export function connectionFault(error: unknown): ConnectionFault {
  for (let next: unknown = error; next instanceof Error; next = next.cause) {
    const code = 'code' in next && typeof next.code === 'string' ? next.code : next.name;
    const found = faultOfCode(code);
    if (found !== undefined) return found;
    // The error of an attempt with several addresses of one name.
    if (next instanceof AggregateError && next.errors.length > 0) return connectionFault(next.errors[0]);
  }
  return 'network';
}

function faultOfCode(code: string): ConnectionFault | undefined {
  if (Object.hasOwn(named, code)) return named[code];
  if (certificateCode.test(code)) return 'certificate_untrusted';
  return tlsCode.test(code) ? 'tls' : undefined;
}
