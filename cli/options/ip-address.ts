import { isIP } from 'node:net';
import { InvalidArgumentError } from 'commander';

/** Parses an IP address, because a host name can resolve to several. */
export function ipAddress(text: string): string {
  if (isIP(text) !== 0) return text;
  throw new InvalidArgumentError('It must be an IP address, for example 127.0.0.1 or 0.0.0.0.');
}
