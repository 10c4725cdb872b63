import { expect, test } from 'vitest';
import { clientClassOf } from './client-class.ts';

test.each([
  ['127.0.0.1', 'loopback'],
  ['127.255.255.255', 'loopback'],
  ['::1', 'loopback'],
  ['::ffff:127.0.0.1', 'loopback'],
  ['9.255.255.255', 'public'],
  ['10.0.0.0', 'private'],
  ['10.255.255.255', 'private'],
  ['11.0.0.0', 'public'],
  ['172.15.255.255', 'public'],
  ['172.16.0.0', 'private'],
  ['172.31.255.255', 'private'],
  ['172.32.0.0', 'public'],
  ['192.168.1.1', 'private'],
  ['::ffff:10.1.2.3', 'private'],
  ['fd00::1', 'private'],
  ['fe80::1%eth0', 'private'],
  ['2001:db8::1', 'public'],
  ['203.0.113.7', 'public'],
  [undefined, 'none'],
  ['not an address', 'none'],
] as const)('the address %s has the class %s', (address, expected) => {
  expect(clientClassOf(address)).toBe(expected);
});
