import { networkInterfaces } from 'node:os';
import { ClusterError } from '../machine/cluster-error.ts';

/**
 * The addresses in the network of one cluster, which can be reached only from this machine and from the pods of the
 * cluster.
 */
export type Addresses = {
  /** Name of the network interface on the machine's side. */
  readonly interfaceName: string;
  /** Address of the machine for pods. */
  readonly machine: string;
  /** Address of the node for the machine and for pods. */
  readonly node: string;
};

export const podRange = '10.244.0.0/16';
export const nodePodRange = '10.244.0.0/24';
/** Kubernetes gives the first address of the service range to the API server. */
export const apiServerServiceAddress = '10.96.0.1';
export const dnsServiceAddress = '10.96.0.10';
export const apiServerPort = 6_443;

const lastSlot = 250;

/** @param slot number of the cluster on its machine, beginning with 1 */
export function addressesOf(slot: number): Addresses {
  return { interfaceName: `portcullis${slot}`, machine: `10.245.${slot}.1`, node: `10.245.${slot}.2` };
}

/** The lowest free number of a cluster: no cluster has it, and no interface of this machine uses its addresses. */
export function freeSlot(taken: ReadonlySet<number>): number {
  const present = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  for (let slot = 1; slot <= lastSlot; slot += 1) {
    const isPresent = present.some(({ address }) => address.startsWith(`10.245.${slot}.`));
    if (!taken.has(slot) && !isPresent) return slot;
  }
  throw new ClusterError(
    'busy',
    `There are ${lastSlot} clusters on this machine: take one down with 'npm run cluster down'.`,
  );
}
