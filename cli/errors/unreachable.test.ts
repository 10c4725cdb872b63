import { expect, test } from 'vitest';
import { unreachableReason } from './unreachable.ts';

const failed = (code: string): Error => new TypeError('fetch failed', { cause: Object.assign(new Error(), { code }) });

test.each([
  ['ENOTFOUND', 'the name guard.example cannot be resolved'],
  ['ECONNREFUSED', 'no program listens on port 8443 of guard.example'],
  ['ETIMEDOUT', 'guard.example:8443 sent no answer before the request timeout'],
  [
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'the certificate of guard.example:8443 is signed by an authority that this machine does not trust',
  ],
  ['CERT_HAS_EXPIRED', 'the certificate of guard.example:8443 has expired or is not valid yet'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'the certificate of guard.example:8443 is for another name'],
  ['EPROTO', 'port 8443 of guard.example does not speak https'],
  ['ECONNRESET', 'the connection to guard.example:8443 broke or was redirected'],
])('an address that does not answer because of %s is reported as "%s"', (code, reason) => {
  expect(unreachableReason(failed(code), 'https://guard.example:8443')).toBe(reason);
});

test('an address without a port has the default port of its scheme', () => {
  expect(unreachableReason(failed('ECONNREFUSED'), 'http://guard.example')).toContain('port 80 of guard.example');
  expect(unreachableReason(failed('ECONNREFUSED'), 'https://guard.example')).toContain('port 443 of guard.example');
});
