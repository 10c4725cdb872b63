import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:https';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { createAuthority, type KeyPair } from '../../hack/cluster/certificates/authority.ts';

const authority = createAuthority();

export const newPair = (): KeyPair => authority.issueServer({ commonName: 'portcullis' }, ['127.0.0.1']);
export const serialOf = ({ certificate }: KeyPair): string => new X509Certificate(certificate).serialNumber;

type TlsAnswer = { readonly status: number; readonly body: string; readonly serial: string };

/**
 * Sends one request on a separate connection; returns the answer with the serial number of the server's certificate.
 */
export function askTls(
  url: string,
  options: {
    readonly method?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string;
  } = {},
): Promise<TlsAnswer> {
  return new Promise((resolve, reject) => {
    const { method = 'GET', headers = {}, body = '' } = options;
    const sent = request(url, { method, headers, agent: false, ca: authority.certificate }, (answer) => {
      const serial = (answer.socket as TLSSocket).getPeerCertificate().serialNumber;
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (part: string) => {
        text += part;
      });
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body: text, serial }));
      answer.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** A connection after its handshake. */
export async function openTls(port: number, options: ConnectionOptions = {}): Promise<TLSSocket> {
  const socket = connect({ host: '127.0.0.1', port, ca: authority.certificate, ...options });
  await once(socket, 'secureConnect');
  return socket;
}

/** Every byte until the server ends the connection. */
export async function readToEnd(socket: TLSSocket): Promise<string> {
  let text = '';
  for await (const part of socket) text += String(part);
  return text;
}
