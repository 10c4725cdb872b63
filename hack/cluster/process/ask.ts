import { readFileSync } from 'node:fs';
import { request as requestPlain } from 'node:http';
import { request as requestTls } from 'node:https';

/** Files of a client that a server asks for its certificate. */
export type ClientFiles = { readonly caFile: string; readonly certificateFile: string; readonly keyFile: string };

const answerWithinMs = 5_000;

/** The status of a GET, its body read and dropped. @throws when nothing answers or the server is not the right one */
export function statusOf(url: string, files?: ClientFiles): Promise<number> {
  return new Promise((resolve, reject) => {
    const tls = files && {
      ca: readFileSync(files.caFile),
      cert: readFileSync(files.certificateFile),
      key: readFileSync(files.keyFile),
    };
    const send = url.startsWith('https:') ? requestTls : requestPlain;
    const request = send(url, { ...tls, agent: false, timeout: answerWithinMs }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    });
    request.on('timeout', () => request.destroy(new Error('no answer in time')));
    request.on('error', reject).end();
  });
}
