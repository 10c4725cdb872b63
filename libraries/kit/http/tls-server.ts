import type { ServerOptions } from 'node:http';
import { createServer, type Server } from 'node:https';
import { readFileStamp } from '../files/file-stamp.ts';
import { readTlsPair, type TlsFiles, type TlsPair, TlsPairError } from './tls-pair.ts';

export type ServedTls = TlsFiles & {
  /** Called with each pair that new connections get, and with the error of each changed pair that is not served. */
  readonly onRead: (read: TlsPair | TlsPairError) => void;
  /** Interval between two checks of the files, milliseconds. */
  readonly everyMs?: number;
};

/** Interval between two checks of the files, milliseconds. */
const lookMs = 5_000;
const oldest = 'TLSv1.2';

/**
 * A server of HTTP/1.1 over TLS 1.2 or newer. While the server listens, a changed pair of files is used for new
 * connections; open connections keep the earlier certificate. If a changed pair cannot be used, the previous pair stays
 * in use.
 * @throws TlsPairError when the files cannot be served at the start
 */
export function createTlsServer(options: ServerOptions & { readonly headersTimeout: number }, tls: ServedTls): Server {
  let stamp = stampOf(tls);
  const first = readTlsPair(tls);
  const server = createServer({
    ...options,
    ...contextOf(first),
    handshakeTimeout: options.headersTimeout,
  });
  tls.onRead(first);

  function look(): void {
    // The stamp is taken before the files are read, so that the next check detects a change during the reading.
    const seen = stampOf(tls);
    if (seen === stamp) return;
    stamp = seen;
    tls.onRead(replacePair());
  }

  function replacePair(): TlsPair | TlsPairError {
    try {
      const next = readTlsPair(tls);
      server.setSecureContext(contextOf(next));
      return next;
    } catch (error) {
      if (error instanceof TlsPairError) return error;
      throw error;
    }
  }

  server.once('listening', () => {
    const looking = setInterval(look, tls.everyMs ?? lookMs).unref();
    server.once('close', () => clearInterval(looking));
  });
  return server;
}

function contextOf({ certificate, key }: TlsPair) {
  return { cert: certificate, key, minVersion: oldest } as const;
}

function stampOf({ certificateFile, keyFile }: TlsFiles): string {
  return `${readFileStamp(certificateFile)} ${readFileStamp(keyFile)}`;
}
