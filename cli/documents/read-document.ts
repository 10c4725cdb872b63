import { open } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import type { Extraction } from './extraction/document-text.ts';

/** Limits of one file: its bytes, the heap of the thread that reads it, and the time. */
export const documentLimits = { fileBytes: 64 * 1_024 * 1_024, heapMb: 512, timeoutMs: 120_000 } as const;

type Limits = { readonly [Name in keyof typeof documentLimits]: number };

/** Reads files one after another in a thread, which is started again after a file that exceeded its limits. */
export type DocumentReader = AsyncDisposable & {
  /** @throws the error of the file system if the file cannot be read */
  read(path: string): Promise<{ readonly bytes: Uint8Array; readonly extraction: Extraction }>;
};

export function openDocumentReader(limits: Limits = documentLimits): DocumentReader {
  let worker: Worker | undefined;

  function started(): Worker {
    worker ??= new Worker(new URL('extraction/extraction-worker.ts', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: limits.heapMb },
      stdout: true,
      stderr: true,
    });
    return worker;
  }

  async function stop(): Promise<void> {
    const ended = worker;
    worker = undefined;
    await ended?.terminate();
  }

  async function extract(path: string, bytes: Uint8Array): Promise<Extraction> {
    const thread = started();
    const { promise, resolve } = Promise.withResolvers<Extraction>();
    const tooCostly = (): void => resolve({ kind: 'fault', fault: 'too_costly' });
    const timer = setTimeout(tooCostly, limits.timeoutMs);
    thread.once('message', resolve).once('error', tooCostly).once('exit', tooCostly);
    thread.postMessage({ path, bytes });
    const extraction = await promise;
    clearTimeout(timer);
    thread.off('message', resolve).off('error', tooCostly).off('exit', tooCostly);
    if (extraction.kind === 'fault' && extraction.fault === 'too_costly') await stop();
    return extraction;
  }

  return {
    async read(path) {
      const bytes = await readBounded(path, limits.fileBytes);
      if (bytes === undefined) {
        return { bytes: new Uint8Array(), extraction: { kind: 'fault', fault: 'file_too_large' } };
      }
      return { bytes, extraction: await extract(path, bytes) };
    },
    [Symbol.asyncDispose]: stop,
  };
}

/** The content of a file; undefined if it has more bytes than allowed, which are not read. */
async function readBounded(path: string, maxBytes: number): Promise<Uint8Array | undefined> {
  await using file = await open(path);
  if ((await file.stat()).size > maxBytes) return undefined;
  return await file.readFile();
}
