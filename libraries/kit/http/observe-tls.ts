import type { Logger } from '../log/logger.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { type TlsFiles, type TlsPair, TlsPairError } from './tls-pair.ts';
import type { ServedTls } from './tls-server.ts';

export type TlsMetrics = {
  /** Receives the result of reading the files of a certificate and of its key. */
  read(read: TlsPair | TlsPairError): void;
};

export function createTlsMetrics(registry: Metrics): TlsMetrics {
  const notAfter = registry.gauge({
    name: 'portcullis_tls_certificate_not_after_seconds',
    help: 'Unix time at which the certificate that new connections get expires; 0 without TLS.',
    labels: {},
  });
  const refused = registry.gauge({
    name: 'portcullis_tls_certificate_refused',
    help: '1 while the newest certificate and key cannot be served and those before them are in use, else 0.',
    labels: {},
  });
  return {
    read(read) {
      refused.set({}, read instanceof TlsPairError ? 1 : 0);
      if (!(read instanceof TlsPairError)) notAfter.set({}, Math.floor(read.notAfter.getTime() / 1_000));
    },
  };
}

/** The files as `listen` takes them, with a log line and metrics of each reading; undefined for plain HTTP. */
export function observeTls(
  files: TlsFiles | undefined,
  { logger, metrics }: { readonly logger: Logger; readonly metrics: TlsMetrics | undefined },
): ServedTls | undefined {
  if (files === undefined) return undefined;
  return {
    ...files,
    onRead(read) {
      metrics?.read(read);
      if (read instanceof TlsPairError) logger.error('tls_certificate_refused', { code: read.code });
      else logger.info('tls_certificate_served', { serial: read.serial, notAfter: read.notAfter.toISOString() });
    },
  };
}
