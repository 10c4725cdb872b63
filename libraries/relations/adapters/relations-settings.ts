import { ConfigError, setting } from '#kit/env/read-environment';
import type { RelationsChoice } from './open-relations.ts';

/** Environment variables that select the store of permissions. */
export const relationsSettings = {
  PORTCULLIS_RELATIONS: setting.choice({
    help: 'where permissions are stored: in the same database, or in an OpenFGA server',
    choices: ['postgres', 'openfga'],
    default: 'postgres',
  }),
  PORTCULLIS_OPENFGA_URL: setting.optional(
    setting.url({ help: 'URL of the OpenFGA server; required if PORTCULLIS_RELATIONS is openfga' }),
  ),
  PORTCULLIS_OPENFGA_STORE: setting.string({
    help: 'OpenFGA store of this installation, created if absent; installations that share a store share permissions',
    default: 'portcullis',
  }),
  PORTCULLIS_OPENFGA_TOKEN_FILE: setting.optional(
    setting.file({ help: 'token for the OpenFGA server, read again on change' }),
  ),
};

type RelationsValues = {
  readonly PORTCULLIS_RELATIONS: 'postgres' | 'openfga';
  readonly PORTCULLIS_OPENFGA_URL: URL | undefined;
  readonly PORTCULLIS_OPENFGA_STORE: string;
};

/** @throws ConfigError if the URL of the OpenFGA server is missing */
export function relationsOf(read: RelationsValues): RelationsChoice {
  if (read.PORTCULLIS_RELATIONS === 'postgres') return { kind: 'postgres' };
  const url = read.PORTCULLIS_OPENFGA_URL;
  if (url !== undefined) return { kind: 'openfga', url, storeName: read.PORTCULLIS_OPENFGA_STORE };
  throw new ConfigError(['PORTCULLIS_OPENFGA_URL is missing: it must be set if PORTCULLIS_RELATIONS is openfga']);
}
