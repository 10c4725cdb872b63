import { BlockList, isIPv4, isIPv6 } from 'node:net';
import type { ClientClass } from '#contracts/audit';

/** Networks of RFC 1918, RFC 3927, RFC 4193, RFC 4291 (link-local) and RFC 6598. */
const privateNetworks = new BlockList();
for (const [network, prefix] of [
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['169.254.0.0', 16],
  ['100.64.0.0', 10],
] as const) {
  privateNetworks.addSubnet(network, prefix, 'ipv4');
}
privateNetworks.addSubnet('fc00::', 7, 'ipv6');
privateNetworks.addSubnet('fe80::', 10, 'ipv6');

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** The class of the address of a connection; `none` if the connection no longer has an address. */
export function clientClassOf(address: string | undefined): ClientClass {
  const plain = address?.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '') ?? '';
  const family = isIPv4(plain) ? 'ipv4' : isIPv6(plain) ? 'ipv6' : undefined;
  if (family === undefined) return 'none';
  if (loopback.check(plain, family)) return 'loopback';
  return privateNetworks.check(plain, family) ? 'private' : 'public';
}
