import { ConfigError, setting } from '#kit/env/read-environment';
import { isLoopback } from '#kit/env/require-loopback';
import type { HostPort } from '#kit/env/setting';

/** The settings by which a service with tenants identifies its callers. */
export const identitySettings = {
  PORTCULLIS_IDENTITY: setting.choice({
    help: 'production: callers have a verified token; development: headers name the caller, without authentication, and the API listens on 127.0.0.1 or [::1] only',
    choices: ['production', 'development'],
  }),
  PORTCULLIS_ISSUERS_FILE: setting.optional(
    setting.file({
      help: 'YAML list of trusted issuers; required if PORTCULLIS_IDENTITY is production; in development mode only tokens of agents are accepted',
    }),
  ),
};

/**
 * The headers of development mode are not read in production mode. In development mode a file of issuers admits agents,
 * which call for the people of that mode.
 */
export type IdentityMode =
  | { readonly mode: 'production'; readonly issuersFile: string }
  | { readonly mode: 'development'; readonly issuersFile?: string };

/** @throws ConfigError if the settings do not belong together */
export function identityOf(mode: 'production' | 'development', issuersFile: string | undefined): IdentityMode {
  if (mode === 'development') {
    return issuersFile === undefined ? { mode } : { mode, issuersFile };
  }
  if (issuersFile !== undefined) return { mode, issuersFile };
  throw new ConfigError(['PORTCULLIS_ISSUERS_FILE is missing: it must be set if PORTCULLIS_IDENTITY is production']);
}

/**
 * The address of an API whose callers are identified as in `identity`. Development mode authenticates no caller, so
 * that the API may be reached from this machine only.
 * @throws ConfigError for another address in development mode
 */
export function listenOf<Address extends HostPort>({ mode }: IdentityMode, listen: Address): Address {
  if (mode === 'production' || isLoopback(listen)) return listen;
  throw new ConfigError([
    'PORTCULLIS_LISTEN must be an address 127.0.0.1 or [::1] with a port if PORTCULLIS_IDENTITY is development, ' +
      'where headers name the caller without authentication: use PORTCULLIS_IDENTITY=production for other addresses',
  ]);
}
