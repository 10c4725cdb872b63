import dns from 'node:dns';
import { addressOfWorkload } from './workload-address.ts';

// Preloaded into a process: resolves Service names, because the machine has no cluster DNS.
const { lookup } = dns;

function lookupHere(hostname: string, ...rest: readonly unknown[]): void {
  const [workload = ''] = hostname.split('.');
  Reflect.apply(lookup, dns, [hostname.endsWith('.svc') ? addressOfWorkload(workload) : hostname, ...rest]);
}

dns.lookup = lookupHere as typeof dns.lookup;
