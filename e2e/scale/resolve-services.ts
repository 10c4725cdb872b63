import dns from 'node:dns';

// Preloaded into a process: resolves names of Services to this machine, which has no cluster DNS.
const { lookup } = dns;

function lookupHere(hostname: string, ...rest: readonly unknown[]): void {
  Reflect.apply(lookup, dns, [hostname.endsWith('.svc') ? '127.0.0.1' : hostname, ...rest]);
}

dns.lookup = lookupHere as typeof dns.lookup;
