import dns from 'node:dns';

// Imported into a process before its own code: names of Services lead to this machine, which has no DNS of a cluster.
const { lookup } = dns;

function lookupHere(hostname: string, ...rest: readonly unknown[]): void {
  Reflect.apply(lookup, dns, [hostname.endsWith('.svc') ? '127.0.0.1' : hostname, ...rest]);
}

dns.lookup = lookupHere as typeof dns.lookup;
