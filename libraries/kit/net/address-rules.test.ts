import { describe, expect, test } from 'vitest';
import { createAddressRules, createNetworkRules, parseNetwork } from './address-rules.ts';

const network = (text: string) => parseNetwork(text) ?? expect.fail(`${text} is not a network`);
const open = createAddressRules([]);

describe('addresses of the open internet', () => {
  test.each([
    '1.1.1.1',
    '8.8.8.8',
    '52.216.0.1',
    '100.63.255.255',
    '100.128.0.0',
    '172.15.255.255',
    '172.32.0.0',
    '192.167.255.255',
    '192.169.0.0',
    '169.253.255.255',
    '198.17.255.255',
    '198.20.0.0',
    '223.255.255.255',
    '2606:4700:4700::1111',
    '2a00:1450:4001::1',
  ])('the address %s is allowed', (address) => {
    expect(open(address)).toBe(true);
  });

  test.each([
    ['0.0.0.0', 'unspecified'],
    ['0.1.2.3', 'this network'],
    ['10.0.0.0', 'private'],
    ['10.255.255.255', 'private'],
    ['100.64.0.0', 'carrier-grade NAT'],
    ['100.100.100.200', 'metadata of Alibaba'],
    ['100.127.255.255', 'carrier-grade NAT'],
    ['127.0.0.1', 'loopback'],
    ['127.255.255.255', 'loopback'],
    ['168.63.129.16', 'the host of Azure'],
    ['169.254.0.0', 'link-local'],
    ['169.254.169.254', 'metadata of clouds'],
    ['172.16.0.0', 'private'],
    ['172.31.255.255', 'private'],
    ['192.0.0.192', 'metadata of Oracle'],
    ['192.0.2.1', 'documentation'],
    ['192.88.99.1', '6to4 relay'],
    ['192.168.0.0', 'private'],
    ['192.168.255.255', 'private'],
    ['198.18.0.0', 'benchmarking'],
    ['198.19.255.255', 'benchmarking'],
    ['198.51.100.1', 'documentation'],
    ['203.0.113.1', 'documentation'],
    ['224.0.0.1', 'multicast'],
    ['239.255.255.255', 'multicast'],
    ['240.0.0.1', 'reserved'],
    ['255.255.255.255', 'broadcast'],
    ['::', 'unspecified'],
    ['::1', 'loopback'],
    ['::2', 'reserved'],
    ['::7f00:1', 'IPv4-compatible'],
    ['::ffff:127.0.0.1', 'IPv4-mapped loopback'],
    ['::ffff:8.8.8.8', 'IPv4-mapped'],
    ['::ffff:0:127.0.0.1', 'IPv4-translated'],
    ['64:ff9b::7f00:1', 'NAT64'],
    ['64:ff9b:1::a00:1', 'local NAT64'],
    ['100::1', 'discard'],
    ['2001::1', 'Teredo'],
    ['2001:db8::1', 'documentation'],
    ['2002:7f00:1::', '6to4 of loopback'],
    ['3fff::1', 'documentation'],
    ['4000::1', 'not assigned'],
    ['5f00::1', 'segment routing'],
    ['fc00::1', 'unique local'],
    ['fd00:ec2::254', 'metadata of AWS'],
    ['fe80::1', 'link-local'],
    ['fe80::1%eth0', 'link-local with a zone'],
    ['fec0::1', 'site-local'],
    ['ff02::1', 'multicast'],
    ['', 'no address'],
    ['localhost', 'a name'],
    ['8.8.8.8.8', 'no address'],
  ])('the address %j is refused (%s)', (address) => {
    expect(open(address)).toBe(false);
  });
});

describe('allowed networks', () => {
  test.each([
    ['10.1.0.0/16', '10.1.0.0', true],
    ['10.1.0.0/16', '10.1.255.255', true],
    ['10.1.0.0/16', '10.0.255.255', false],
    ['10.1.0.0/16', '10.2.0.0', false],
    ['10.1.0.0/16', '::ffff:10.1.0.1', true],
    ['10.1.0.0/16', '::ffff:10.2.0.1', false],
    ['fd00:1::/32', 'fd00:1::5', true],
    ['fd00:1::/32', 'fd00:2::5', false],
    ['fd00:1::/32', '10.1.0.1', false],
    ['127.0.0.1/32', '127.0.0.2', false],
  ])('with the network %s allowed, the address %s is allowed: %s', (text, address, isAllowed) => {
    expect(createAddressRules([network(text)])(address)).toBe(isAllowed);
    expect(createAddressRules([network(text)])('8.8.8.8')).toBe(true);
    expect(createNetworkRules([network(text)])(address)).toBe(isAllowed);
    expect(createNetworkRules([network(text)])('8.8.8.8')).toBe(false);
  });

  test.each(['', '10.0.0.0', '10.0.0.1/8', '10.0.0.0/33', 'fd00::1/8', 'example.com/8', '10.0.0.0/-1'])(
    'the text %j is not a network',
    (text) => {
      expect(parseNetwork(text)).toBeUndefined();
    },
  );
});
