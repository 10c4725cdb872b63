import ipaddr from 'ipaddr.js';

/** Whether a connection to an IP address is allowed. */
export type AddressRules = (address: string) => boolean;

type Network = [ipaddr.IPv4 | ipaddr.IPv6, number];

/**
 * Networks that are not open internet although ipaddr.js calls them unicast: IETF protocol assignments (RFC 6890), 6to4
 * relays (RFC 7526), benchmarking (RFC 2544), documentation (RFC 9637), segment routing (RFC 9602), and the address at
 * which virtual machines of Azure reach their host.
 */
const special = ['192.0.0.0/24', '192.88.99.0/24', '198.18.0.0/15', '168.63.129.16/32', '3fff::/20', '5f00::/16'].map(
  (network) => ipaddr.parseCIDR(network),
);
/** All global unicast addresses of IPv6 that are assigned (RFC 4291, section 2.4). */
const globalUnicast = ipaddr.parseCIDR('2000::/3');

/**
 * Allows addresses of the public internet, and those of the given networks. An IPv4 address inside of an IPv6 address
 * never counts as public.
 * @param allowed networks such as 10.1.0.0/16 or fd00::/8, from `parseNetwork`
 */
export function createAddressRules(allowed: readonly Network[]): AddressRules {
  return (text) => {
    if (!ipaddr.isValid(text)) return false;
    const address = ipaddr.parse(text);
    if (createNetworkRules(allowed)(text)) return true;
    if (address.range() !== 'unicast' || special.some((network) => isInside(address, network))) return false;
    return address.kind() === 'ipv4' || isInside(address, globalUnicast);
  };
}

/** Allows addresses of the given networks and no others. */
export function createNetworkRules(allowed: readonly Network[]): AddressRules {
  return (text) => ipaddr.isValid(text) && allowed.some((network) => isInside(ipaddr.process(text), network));
}

/**
 * Parses a network in CIDR notation; undefined if the text is not a network, or if its address has bits beyond the
 * prefix.
 */
export function parseNetwork(text: string): Network | undefined {
  if (!ipaddr.isValidCIDR(text)) return undefined;
  const [address, bits] = ipaddr.parseCIDR(text);
  const { IPv4, IPv6 } = ipaddr;
  const network = address.kind() === 'ipv4' ? IPv4.networkAddressFromCIDR(text) : IPv6.networkAddressFromCIDR(text);
  return network.toString() === address.toString() ? [address, bits] : undefined;
}

function isInside(address: ipaddr.IPv4 | ipaddr.IPv6, network: Network): boolean {
  return address.kind() === network[0].kind() && address.match(network);
}
