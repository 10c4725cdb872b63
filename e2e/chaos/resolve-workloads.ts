import dns from 'node:dns';
import { addressOfWorkload } from './workload-address.ts';

// Imported into a process before its own code: this machine has no DNS of a cluster.
const { lookup } = dns;

function lookupHere(hostname: string, ...rest: readonly unknown[]): void {
  const [workload = ''] = hostname.split('.');
  Reflect.apply(lookup, dns, [hostname.endsWith('.svc') ? addressOfWorkload(workload) : hostname, ...rest]);
}

dns.lookup = lookupHere as typeof dns.lookup;
