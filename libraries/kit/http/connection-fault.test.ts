import { expect, test } from 'vitest';
import { connectionFault } from './connection-fault.ts';

test.each([
  ['ENOTFOUND', 'name_not_found'],
  ['ECONNREFUSED', 'refused'],
  ['CERT_HAS_EXPIRED', 'certificate_expired'],
  ['CERT_NOT_YET_VALID', 'certificate_expired'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'certificate_untrusted'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'certificate_untrusted'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'certificate_wrong_host'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'tls'],
  ['UND_ERR_CONNECT_TIMEOUT', 'timeout'],
  ['ECONNRESET', 'network'],
])('the error code %s of a connection, even as the cause of another error, is the fault %s', (code, fault) => {
  const error = Object.assign(new Error('detail'), { code });
  expect(connectionFault(error)).toBe(fault);
  expect(connectionFault(new TypeError('fetch failed', { cause: error }))).toBe(fault);
  expect(connectionFault(new AggregateError([error]))).toBe(fault);
});
