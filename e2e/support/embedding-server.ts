import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { closeServer, listenOnLoopback } from '#kit/testing/loopback';

export const digestDimension = 8;

type EmbeddingAnswers = {
  readonly vectorOf: (text: string) => readonly number[];
  /** A text that contains this word is refused. */
  readonly refusedWord?: string;
};

/** A model gateway that serves only embeddings. */
export async function startEmbeddings({
  vectorOf,
  refusedWord,
}: EmbeddingAnswers): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer(async (incoming, outgoing) => {
    const parts: Buffer[] = [];
    incoming.on('data', (part: Buffer) => parts.push(part));
    await new Promise((resolve) => incoming.once('close', resolve));
    // The client was killed while it sent the request.
    if (!incoming.complete) return;
    const { input } = JSON.parse(Buffer.concat(parts).toString()) as { readonly input: readonly string[] };
    outgoing.setHeader('content-type', 'application/json');
    if (refusedWord !== undefined && input.some((text) => text.includes(refusedWord))) {
      outgoing.writeHead(400).end(JSON.stringify({ error: { code: 'refused', message: 'refused' } }));
      return;
    }
    const data = input.map((text, index) => ({ index, embedding: vectorOf(text) }));
    outgoing.end(JSON.stringify({ object: 'list', data }));
  });
  const url = await listenOnLoopback(server);
  return { url, [Symbol.asyncDispose]: () => closeServer(server) };
}

/** A vector that depends only on the text and has no semantic meaning. */
export function digestVector(text: string): readonly number[] {
  const bytes = createHash('sha256').update(text).digest();
  return Array.from({ length: digestDimension }, (_, at) => (bytes[at] ?? 0) - 127.5);
}
