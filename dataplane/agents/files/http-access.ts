import { fileGrantSchema, fileRefusalSchema } from '#contracts/file-reference';
import { readBounded } from '#kit/http/read-bounded';
import { type FileAccess, FileRefusedError, FileUnavailableError } from './ports.ts';

type HttpAccessOptions = {
  /** Address of the file service, to which /v1 is added. */
  readonly url: URL;
  /** The headers that identify this process and its run to the service. @throws if no headers are available now */
  readonly headersFor: (runId: string, signal: AbortSignal) => Promise<Readonly<Record<string, string>>>;
};

const answerBytes = 65_536;

/**
 * Files of a file service over HTTP (docs/file-service.md). The service judges the capability and answers with a
 * channel for one read. No redirect is followed, and no address in an answer is used.
 */
export function createHttpAccess({ url, headersFor }: HttpAccessOptions): FileAccess {
  const base = url.href.replace(/\/+$/, '');
  async function post(headers: Readonly<Record<string, string>>, body: object, signal: AbortSignal) {
    return await available(async () => {
      const answer = await fetch(`${base}/v1/file-references:check`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify(body),
        redirect: 'error',
        signal,
      });
      const bytes = answer.body === null ? Buffer.alloc(0) : await readBounded(answer.body, answerBytes);
      return { status: answer.status, json: JSON.parse((bytes ?? Buffer.alloc(0)).toString('utf8')) as unknown };
    }, signal);
  }

  return {
    async probe(signal) {
      const headers = await available(() => headersFor('', signal), signal);
      // A service that works refuses a request without a reference.
      const { status, json } = await post(headers, {}, signal);
      if (status !== 403 || !fileRefusalSchema.safeParse(json).success) throw new FileUnavailableError();
    },
    async check(reference, use, signal) {
      const headers = await available(() => headersFor(use.runId, signal), signal);
      const { status, json } = await post(headers, { reference, use }, signal);
      if (status === 403) {
        const refused = fileRefusalSchema.safeParse(json);
        if (refused.success) throw new FileRefusedError(refused.data.error.code);
      }
      const grant = fileGrantSchema.safeParse(json);
      if (status !== 200 || !grant.success) throw new FileUnavailableError();
      if (grant.data.fileId.toLowerCase() !== reference.fileId.toLowerCase()) throw new FileRefusedError('file_wrong');
      const { mediaType, size, sha256, channel } = grant.data;
      return {
        mediaType,
        size,
        sha256: sha256.toLowerCase(),
        async open(reading) {
          const answer = await available(
            () => fetch(`${base}/v1/file-channels/${channel}`, { headers, redirect: 'error', signal: reading }),
            reading,
          );
          if (answer.status === 200 && answer.body !== null) return answer.body;
          await answer.body?.cancel();
          if ([403, 404, 409, 410].includes(answer.status)) throw new FileRefusedError('reads_used');
          throw new FileUnavailableError();
        },
      };
    },
  };
}

async function available<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await work();
  } catch {
    signal.throwIfAborted();
    throw new FileUnavailableError();
  }
}
