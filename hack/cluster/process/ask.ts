import { readFileSync } from 'node:fs';
import { request as requestPlain } from 'node:http';
import { request as requestTls } from 'node:https';
import { text } from 'node:stream/consumers';

/** Files of a client that a server asks for its certificate. */
export type ClientFiles = { readonly caFile: string; readonly certificateFile: string; readonly keyFile: string };

const answerWithinMs = 5_000;

type Answer = { readonly status: number; readonly body: string };

/** The answer to a GET. @throws when nothing answers or the server is not the right one */
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
    request.on('timeout', () => request.destroy(new Error('no answer in time')));
    request.on('error', reject).end();
  });
}

/** Whether a GET is answered with 200; an answer that does not come is a no. */
export async function answersOk(url: string, files?: ClientFiles): Promise<boolean> {
  const answer = await ask(url, files).catch(() => undefined);
  return answer?.status === 200;
}
