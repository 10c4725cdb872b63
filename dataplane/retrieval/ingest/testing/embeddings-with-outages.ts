import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { closeServer, listenOnLoopback } from '#kit/testing/loopback';
import { testProfile } from './scripted-models.ts';

type EmbeddingsWithOutages = AsyncDisposable & {
  readonly url: string;
  /** The embedded texts of each answered call, with the requested model. */
  readonly answered: readonly { readonly model: string; readonly texts: readonly string[] }[];
  /** Answers the given number of next calls; every later call is answered with 503 until the next `answer`. */
  answer(calls: number): void;
};

/** A model gateway over HTTP that embeds texts, in outages not. */
export async function startEmbeddingsWithOutages(): Promise<EmbeddingsWithOutages> {
  const answered: { model: string; texts: readonly string[] }[] = [];
  let left = Number.POSITIVE_INFINITY;
  const server = createServer(async (incoming, outgoing) => {
    const parts: Buffer[] = [];
    for await (const part of incoming) parts.push(part as Buffer);
    const { model, input } = JSON.parse(Buffer.concat(parts).toString()) as { model: string; input: readonly string[] };
    outgoing.setHeader('content-type', 'application/json');
    if (left === 0) {
      outgoing.writeHead(503).end(JSON.stringify({ error: { code: 'unavailable' } }));
      return;
    }
    left -= 1;
    answered.push({ model, texts: input });
    const data = input.map((text, index) => ({ index, embedding: vectorOf(text) }));
    outgoing.end(JSON.stringify({ object: 'list', data }));
  });
  const url = await listenOnLoopback(server);
  return {
    url,
    answered,
    answer: (calls) => {
      left = calls;
    },
    [Symbol.asyncDispose]: () => closeServer(server),
  };
}

function vectorOf(text: string): readonly number[] {
  const bytes = createHash('sha256').update(text).digest();
  return Array.from({ length: testProfile.dimension }, (_, at) => (bytes[at] ?? 0) - 127.5);
}
