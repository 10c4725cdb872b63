import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { z } from 'zod';
import { type FileReference, type FileRefusal, fileReferenceSchema, fileUseSchema } from '#contracts/file-reference';
import { createFileCapabilityVerifier, type StoredFile, storedFileFault } from '#identity/file-capability';
import { closeServer, listenOnLoopback } from '#kit/testing/loopback';

/** Body of `POST /v1/file-references:check`. */
const checkSchema = z.strictObject({ reference: fileReferenceSchema, use: fileUseSchema });
/** Life of a channel, milliseconds, and largest body of a check, bytes. */
const limits = { channelMs: 60_000, bodyBytes: 65_536 } as const;

type FileServiceOptions = {
  readonly issuer: string;
  readonly keysFile: string;
  /** Whether a caller with this value of Authorization may use the service. */
  readonly accepts: (authorization: string | undefined) => boolean | Promise<boolean>;
  /** The address at which the service listens; a free port of loopback when absent. */
  readonly place?: { readonly host: string; readonly port: number };
};

/** The reference server of the contract in docs/file-service.md. The server keeps its files in memory. */
export type FileService = AsyncDisposable & {
  readonly url: string;
  /** Numbers of judged references, and of downloads that began. */
  readonly counts: { checks: number; downloads: number };
  add(file: StoredFile, bytes: Buffer): void;
  revoke(reference: FileReference): void;
  /** Replaces the bytes that a download sends, or the way in which it sends them. */
  sendInstead(send: ((outgoing: ServerResponse) => void) | undefined): void;
};

type Channel = { readonly fileId: string; readonly capability: string; readonly reads: number; readonly until: number };

export async function startFileService({ issuer, keysFile, accepts, place }: FileServiceOptions): Promise<FileService> {
  const verifier = createFileCapabilityVerifier({ issuer, jwks: { file: keysFile } });
  const files = new Map<string, { readonly file: StoredFile; readonly bytes: Buffer }>();
  const channels = new Map<string, Channel>();
  const used = new Map<string, number>();
  const revoked = new Set<string>();
  const counts = { checks: 0, downloads: 0 };
  let instead: ((outgoing: ServerResponse) => void) | undefined;

  async function check(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = await readBody(incoming);
    const read = checkSchema.safeParse(body);
    if (!read.success) return void refuse(outgoing, 'reference_invalid');
    counts.checks += 1;
    const { reference, use } = read.data;
    const found = await verifier.verify(reference, use);
    if (found.kind === 'unavailable') return void answer(outgoing, 503, { error: { code: 'unavailable' } });
    if (found.kind === 'refusal') return void refuse(outgoing, found.code);
    const stored = files.get(reference.fileId.toLowerCase());
    if (stored === undefined) return void refuse(outgoing, 'file_not_found');
    const fault = storedFileFault(stored.file, reference, found);
    if (fault !== undefined) return void refuse(outgoing, fault);
    if (revoked.has(found.id)) return void refuse(outgoing, 'revoked');
    if ((used.get(found.id) ?? 0) >= found.reads) return void refuse(outgoing, 'reads_used');
    const channel = randomBytes(24).toString('base64url');
    const { id: fileId, mediaType, size, sha256 } = stored.file;
    const until = Math.min(Date.now() + limits.channelMs, found.expiresAt.getTime());
    channels.set(channel, { fileId, capability: found.id, reads: found.reads, until });
    answer(outgoing, 200, { fileId, mediaType, size, sha256, channel });
  }

  function download(outgoing: ServerResponse, id: string): void {
    const channel = channels.get(id);
    channels.delete(id);
    if (channel === undefined || Date.now() >= channel.until || revoked.has(channel.capability)) {
      return void answer(outgoing, 404, { error: { code: 'channel_unknown' } });
    }
    const count = (used.get(channel.capability) ?? 0) + 1;
    if (count > channel.reads) return void refuse(outgoing, 'reads_used');
    used.set(channel.capability, count);
    counts.downloads += 1;
    const send = instead ?? ((to: ServerResponse): void => void to.end(files.get(channel.fileId)?.bytes));
    outgoing.setHeader('content-type', 'application/octet-stream');
    send(outgoing);
  }

  const server = createServer((incoming, outgoing) => {
    void (async () => {
      if (!(await accepts(incoming.headers.authorization))) {
        return void answer(outgoing, 401, { error: { code: 'unauthenticated' } });
      }
      const path = incoming.url ?? '/';
      const channel = /^\/v1\/file-channels\/([A-Za-z0-9_-]+)$/.exec(path)?.[1];
      if (incoming.method === 'POST' && path === '/v1/file-references:check') return await check(incoming, outgoing);
      if (incoming.method === 'GET' && channel !== undefined) return download(outgoing, channel);
      answer(outgoing, 404, { error: { code: 'not_found' } });
    })().catch(() => outgoing.destroy());
  });
  return {
    url: place === undefined ? await listenOnLoopback(server) : await listenAt(server, place),
    counts,
    add: (file, bytes) => void files.set(file.id, { file, bytes }),
    revoke: ({ capability }) => void revoked.add(capabilityId(capability)),
    sendInstead(send) {
      instead = send;
    },
    [Symbol.asyncDispose]: () => closeServer(server),
  };
}

async function listenAt(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<string> {
  server.listen(port, host);
  await once(server, 'listening');
  return `http://${host}:${port}`;
}

/** The id of a capability, whether or not its signature is valid. */
export function capabilityId(capability: string): string {
  const claims = JSON.parse(Buffer.from(capability.split('.')[1] ?? '', 'base64url').toString()) as { jti: string };
  return claims.jti;
}

async function readBody(incoming: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of incoming as AsyncIterable<Buffer>) {
    length += part.length;
    if (length > limits.bodyBytes) return undefined;
    parts.push(part);
  }
  try {
    return JSON.parse(Buffer.concat(parts).toString());
  } catch {
    return undefined;
  }
}

function refuse(outgoing: ServerResponse, code: FileRefusal): void {
  answer(outgoing, 403, { error: { code } });
}

function answer(outgoing: ServerResponse, status: number, body: object): void {
  outgoing.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
