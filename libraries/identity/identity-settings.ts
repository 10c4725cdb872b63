import { ConfigError, setting } from '#kit/env/read-environment';

/** Where a service with tenants takes its callers from. */
export const identitySettings = {
  PORTCULLIS_IDENTITY: setting.choice({
    help: 'production: callers have a verified token; development: headers name the caller, without authentication',
    choices: ['production', 'development'],
  }),
  PORTCULLIS_ISSUERS_FILE: setting.optional(
    setting.file({ help: 'YAML list of trusted issuers; required if PORTCULLIS_IDENTITY is production' }),
  ),
};

/** Never both: the headers of development mode are not read in production mode. */
export type IdentityMode =
  | { readonly mode: 'production'; readonly issuersFile: string }
  | { readonly mode: 'development' };

/** @throws ConfigError if the settings do not belong together */
export function identityOf(mode: 'production' | 'development', issuersFile: string | undefined): IdentityMode {
  if (mode === 'development') {
    if (issuersFile === undefined) return { mode };
    throw new ConfigError([
      'PORTCULLIS_ISSUERS_FILE is set: in development mode no token is verified, so remove one of both',
    ]);
  }
  if (issuersFile !== undefined) return { mode, issuersFile };
  throw new ConfigError(['PORTCULLIS_ISSUERS_FILE is missing: it must be set if PORTCULLIS_IDENTITY is production']);
}
