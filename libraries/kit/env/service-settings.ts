import { LOG_LEVELS } from '#kit/log/logger';
import { ConfigError } from './config-error.ts';
import { type HostPort, setting } from './setting.ts';

/** The certificate of the address for clients. */
export const tlsSettings = {
  PORTCULLIS_TLS_CERTIFICATE_FILE: setting.optional(
    setting.file({
      help: 'certificate of PORTCULLIS_LISTEN, PEM, followed by its intermediate authorities, read again on change; with it that address serves TLS 1.2 or newer only',
    }),
  ),
  PORTCULLIS_TLS_KEY_FILE: setting.optional(
    setting.file({ help: 'private key of that certificate, PEM; both are set or neither' }),
  ),
};

/** The addresses of a service with an API. */
export const addressSettings = {
  PORTCULLIS_LISTEN: setting.hostPort({ help: 'address for clients of the API', default: '127.0.0.1:0' }),
  PORTCULLIS_ADMIN_LISTEN: setting.hostPort({
    help: 'address of /livez, /readyz and /metrics',
    default: '127.0.0.1:0',
  }),
  ...tlsSettings,
};

export const logSettings = {
  PORTCULLIS_LOG_LEVEL: setting.choice({ help: 'minimum level of log lines', choices: LOG_LEVELS, default: 'info' }),
};

export type ListenAddress = HostPort & {
  /** The certificate and the key; if absent, the service uses plain HTTP. */
  readonly tls?: { readonly certificateFile: string; readonly keyFile: string };
};

type ListenValues = {
  readonly PORTCULLIS_LISTEN: HostPort;
  readonly PORTCULLIS_TLS_CERTIFICATE_FILE: string | undefined;
  readonly PORTCULLIS_TLS_KEY_FILE: string | undefined;
};

/** The address for clients. @throws ConfigError when only one of the two TLS files is set */
export function listenAddressOf(read: ListenValues): ListenAddress {
  const { PORTCULLIS_TLS_CERTIFICATE_FILE: certificateFile, PORTCULLIS_TLS_KEY_FILE: keyFile } = read;
  if (certificateFile === undefined && keyFile === undefined) return read.PORTCULLIS_LISTEN;
  if (certificateFile !== undefined && keyFile !== undefined)
    return { ...read.PORTCULLIS_LISTEN, tls: { certificateFile, keyFile } };
  throw new ConfigError([
    `PORTCULLIS_TLS_${keyFile === undefined ? 'KEY' : 'CERTIFICATE'}_FILE is missing: the files of a certificate and of its key must be set together`,
  ]);
}
