import { type Agent, request } from 'node:http';

/** Times of one call, milliseconds since its start. */
export type TimedCall = {
  /** Time until the first byte of the body; of a stream that is a frame without text. */
  readonly firstByte: number;
  /** Time until the first text of the model. */
  readonly firstText: number;
  readonly total: number;
};

type ChatCall = {
  readonly agent: Agent;
  readonly url: string;
  readonly key: string;
  readonly model: string;
  readonly stream: boolean;
  readonly content: string;
};

/** A frame with non-empty text. */
const textInFrame = /"content":"[^"]/;

/** @throws when the answer has another status than 200 */
export function timeCall({ agent, url, key, model, stream, content }: ChatCall): Promise<TimedCall> {
  const body = JSON.stringify({ model, stream, messages: [{ role: 'user', content }] });
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const start = performance.now();
    const sent = request(`${url}/v1/chat/completions`, { method: 'POST', agent, headers }, (answer) => {
      let firstByte: number | undefined;
      let firstText: number | undefined;
      answer.on('data', (bytes: Buffer) => {
        firstByte ??= performance.now() - start;
        if (firstText === undefined && textInFrame.test(bytes.toString('latin1')))
          firstText = performance.now() - start;
      });
      answer.on('end', () => {
        const total = performance.now() - start;
        if (answer.statusCode !== 200) reject(new Error(`${model} answered ${answer.statusCode}`));
        else resolve({ firstByte: firstByte ?? total, firstText: firstText ?? total, total });
      });
      answer.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
