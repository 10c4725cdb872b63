import { ConfigError } from './config-error.ts';
import type { HostPort } from './setting.ts';

const loopback = new Set(['127.0.0.1', '::1']);

/**
 * The address of a service that only processes of this machine may reach.
 * @throws ConfigError with the name of the setting where it is another one
 */
export function requireLoopback(setting: string, address: HostPort): HostPort {
  if (loopback.has(address.host)) return address;
  throw new ConfigError([`${setting} must be an address 127.0.0.1 or [::1] with a port`]);
}
