import { ConfigError } from '#kit/env/config-error';
import type { Subject } from './identity.ts';

/**
 * The people who may call MCP while its profile is confirmed, each as `issuer|subject` (`agents:mcp-auth:r1-only`).
 * @throws ConfigError for a name without an issuer, which would be a person of each issuer
 */
export function confirmersOf(names: readonly string[] | undefined): readonly string[] {
  const isComplete = (name: string): boolean => name.indexOf('|') > 0 && !name.endsWith('|');
  if (names?.every(isComplete) === false) {
    throw new ConfigError(['PORTCULLIS_MCP_CONFIRMERS must be a list of issuer|subject']);
  }
  return names ?? [];
}

/** The form in which a person is written in a list of confirmers. */
export function confirmerName({ issuer, subject }: Subject): string {
  return `${issuer}|${subject}`;
}
