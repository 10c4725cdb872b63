import { fileURLToPath } from 'node:url';
import { createKeptChildren } from '#kit/process/kept-child';
import { type FileReading, maxAnswerLength, type ReadJob, type ReadJobAnswer } from './extraction/read-answer.ts';

/** Bounds of one file: its bytes, the heap of the process that reads it, and the time. */
export const documentLimits = { fileBytes: 64 * 1_024 * 1_024, heapMb: 512, timeoutMs: 120_000 } as const;

type Limits = { readonly [Name in keyof typeof documentLimits]: number };

const file = fileURLToPath(new URL('./extraction/extraction-process.ts', import.meta.url));
/** A watch that finds no change for this long uses no memory for a process. */
const idleMs = 60_000;
/** Files of one process: what its parsers keep does not grow without end. */
const mostAnswers = 1_000;

/** Reads files one after the other in a child process. Another one follows it after a file that exceeded its bounds. */
export type DocumentReader = AsyncDisposable & {
  /** @throws the error of the file system if the file cannot be read, or that of the system if no process can be started */
  read(path: string): Promise<FileReading>;
};

/**
 * V8 can end a whole process because one of its threads exceeds the limit of its own heap: no document is read
 * in this process (docs/decisions/0227).
 */
export function openDocumentReader(limits: Limits = documentLimits): DocumentReader {
  const { fileBytes, heapMb, timeoutMs } = limits;
  const nodeOptions = [`--max-old-space-size=${heapMb}`];
  const children = createKeptChildren({ file, nodeOptions, idleMs, mostAnswers, maxAnswerLength });
  return {
    async read(path) {
      const answer = await children.ask(JSON.stringify({ path, fileBytes } satisfies ReadJob), timeoutMs);
      if (answer.kind === 'ended') return { kind: 'fault', fault: 'too_costly' };
      const read = JSON.parse(answer.line) as ReadJobAnswer;
      if (read.kind !== 'unreadable') return read;
      throw Object.assign(new Error('the file cannot be read'), { code: read.code });
    },
    [Symbol.asyncDispose]: () => children[Symbol.asyncDispose](),
  };
}
