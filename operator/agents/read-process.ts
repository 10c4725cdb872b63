import { request } from 'undici';
import { parseStrict } from '#kit/json/parse-strict';

/**
 * Timeout of one request; maximum size of an answer in bytes, and in JSON values, which need more memory than their
 * bytes.
 */
const timeoutMs = 2_000;
const mostBytes = 4_194_304;
const mostValues = 100_000;

/**
 * The strict JSON in an answer of a process with status 200; undefined for any other answer and for no answer. Never
 * throws.
 */
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
    return answer.statusCode === 200 ? parseStrict(Buffer.concat(chunks), { maxValues: mostValues }) : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a request to a path is answered with status 200, whatever the body is. */
export async function answersWith200(url: string, signal: AbortSignal): Promise<boolean | undefined> {
  try {
    const answer = await request(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]) });
    await answer.body.dump();
    return answer.statusCode === 200;
  } catch {
    return undefined;
  }
}
