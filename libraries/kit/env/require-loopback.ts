import { ConfigError } from './config-error.ts';
import type { HostPort } from './setting.ts';

const loopback = new Set(['127.0.0.1', '::1']);

export function isLoopback({ host }: HostPort): boolean {
  return loopback.has(host);
}

/**
 * Checks the address of a service that only local processes may reach.
 * @throws ConfigError that names the setting, for any other address
 */
export function requireLoopback(setting: string, address: HostPort): HostPort {
  if (isLoopback(address)) return address;
  throw new ConfigError([`${setting} must be an address 127.0.0.1 or [::1] with a port`]);
}
