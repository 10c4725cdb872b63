import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';

/** Paths of two PEM files: a certificate followed by those of its authorities, and its private key. */
export type TlsFiles = { readonly certificateFile: string; readonly keyFile: string };

export type TlsPair = {
  readonly certificate: Buffer;
  readonly key: Buffer;
  /** Serial number of the first certificate, hexadecimal. */
  readonly serial: string;
  readonly notAfter: Date;
};

type TlsPairFault = 'certificate_unreadable' | 'certificate_invalid' | 'key_unreadable' | 'key_invalid' | 'mismatch';

/** A certificate and its key cannot be served. The message names the files, never their content. */
export class TlsPairError extends Error {
  readonly code: TlsPairFault;

  constructor(code: TlsPairFault, { certificateFile, keyFile }: TlsFiles, cause?: unknown) {
    super(sentences[code](certificateFile, keyFile), { cause });
    this.name = 'TlsPairError';
    this.code = code;
  }
}

const sentences = {
  certificate_unreadable: (certificate) => `certificate file ${certificate}: cannot be read`,
  certificate_invalid: (certificate) => `certificate file ${certificate}: contains no certificate in PEM`,
  key_unreadable: (_certificate, key) => `key file ${key}: cannot be read`,
  key_invalid: (_certificate, key) => `key file ${key}: contains no private key in PEM without a passphrase`,
  mismatch: (certificate, key) => `key file ${key}: is not the key of the certificate in ${certificate}`,
} as const satisfies Record<TlsPairFault, (certificateFile: string, keyFile: string) => string>;

/** Reads both files. @throws TlsPairError if the key does not belong to the first certificate */
export function readTlsPair(files: TlsFiles): TlsPair {
  const attempt = <T>(code: TlsPairFault, step: () => T): T => {
    try {
      return step();
    } catch (cause) {
      throw new TlsPairError(code, files, cause);
    }
  };
  const certificate = attempt('certificate_unreadable', () => readFileSync(files.certificateFile));
  const key = attempt('key_unreadable', () => readFileSync(files.keyFile));
  const first = attempt('certificate_invalid', () => new X509Certificate(certificate));
  const privateKey = attempt('key_invalid', () => createPrivateKey(key));
  if (!first.checkPrivateKey(privateKey)) throw new TlsPairError('mismatch', files);
  // This also parses the certificates after the first one.
  attempt('certificate_invalid', () => createSecureContext({ cert: certificate, key }));
  return { certificate, key, serial: first.serialNumber, notAfter: first.validToDate };
}
