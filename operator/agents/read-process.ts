import { request } from 'undici';

/** Timeout of one request, and largest answer in bytes. */
const timeoutMs = 2_000;
const mostBytes = 4_194_304;

/** The JSON of a process with status 200; undefined for every other answer and without one. */
export async function readProcessJson(url: string, signal: AbortSignal): Promise<unknown> {
  try {
    const answer = await request(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]) });
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of answer.body as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > mostBytes) return undefined;
      chunks.push(chunk);
    }
    return answer.statusCode === 200 ? JSON.parse(Buffer.concat(chunks).toString('utf8')) : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a path answers with status 200, whatever the body is. */
export async function answersWith200(url: string, signal: AbortSignal): Promise<boolean | undefined> {
  try {
    const answer = await request(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]) });
    await answer.body.dump();
    return answer.statusCode === 200;
  } catch {
    return undefined;
  }
}
