import { createHash } from 'node:crypto';

/** The loopback address that every process resolves for the Service of a workload. */
export function addressOfWorkload(name: string): string {
  const [a = 0, b = 0, c = 0] = createHash('sha256').update(name).digest();
  return `127.${1 + (a % 254)}.${b}.${1 + (c % 254)}`;
}
