import { readFileSync } from 'node:fs';
import { request as requestPlain } from 'node:http';
import { request as requestTls } from 'node:https';
import { text } from 'node:stream/consumers';

/** Certificate files that a client shows to a server of the cluster. */
export type ClientFiles = { readonly caFile: string; readonly certificateFile: string; readonly keyFile: string };

const answerWithinMs = 5_000;

type Answer = { readonly status: number; readonly body: string };

/** The answer to an HTTP GET. @throws when no server answers or its certificate is not trusted */
function ask(url: string, files?: ClientFiles): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const tls = files && {
      ca: readFileSync(files.caFile),
      cert: readFileSync(files.certificateFile),
      key: readFileSync(files.keyFile),
    };
    const send = url.startsWith('https:') ? requestTls : requestPlain;
    const request = send(url, { ...tls, agent: false, timeout: answerWithinMs }, (response) => {
      text(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject);
    });
    request.on('timeout', () => request.destroy(new Error('the server did not answer in time')));
    request.on('error', reject).end();
  });
}

/** Whether a GET is answered with 200; false if no answer arrives. */
export async function answersOk(url: string, files?: ClientFiles): Promise<boolean> {
  const answer = await ask(url, files).catch(() => undefined);
  return answer?.status === 200;
}
