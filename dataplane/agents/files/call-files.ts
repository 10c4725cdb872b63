import { type FileReference, type FileUse, fileReferenceSchema, mostFileReferences } from '#contracts/file-reference';
import { flowLimits } from '#contracts/flow-limits';
import { fileText, hasText } from '#flow/files/media-types';
import { withTimeout } from '#kit/concurrency/abort';
import type { ByteBudget, TakenBytes } from '#kit/http/byte-budget';
import type { JsonValue } from '#kit/json/json-value';
import type { Logger } from '#kit/log/logger';
import type { CallPart } from '../calls/agent-call.ts';
import { AgentError } from '../calls/agent-error.ts';
import { listReferences, replaceReferences } from './find-references.ts';
import {
  type FileAccess,
  type FileProvider,
  FileRefusedError,
  FileUnavailableError,
  type GrantedFile,
} from './ports.ts';
import { FileContentError, readGrantedFile } from './read-granted-file.ts';

/** A file of one run, as file nodes read it. */
type RunFile = {
  readonly mediaType: string;
  /** The text of the file; absent if no node reads texts, or if the file has no text form. */
  readonly text?: string;
  /** The id of the copy for the provider; absent if no node passes files to the provider. */
  readonly providerFileId?: string;
};

const fileLimits = {
  /** Time limit for the check of all references, and for reading one file, milliseconds. */
  checkMs: 10_000,
  readMs: 60_000,
} as const;

/** Time limits for the work on the files of one call, milliseconds. */
export type FileTimes = {
  readonly checkMs: number;
  readonly readMs: number;
  /** Interval of the probes of the place of files. */
  readonly probeMs?: number;
  /** How long a call waits for free bytes in the budget of files. */
  readonly waitMs?: number;
};

/** The limits of an agent version for files, and how its flow reads them. */
type FileRules = {
  readonly mediaTypes: readonly string[];
  /** Maximum number of bytes of all files of one call together. */
  readonly maxBytes: number;
  readonly uses: ReadonlySet<'text' | 'provider'>;
};

type CallFilesOptions = {
  /** Bytes of the files of all calls together. */
  readonly budget: ByteBudget;
  readonly access: FileAccess;
  readonly provider: FileProvider;
  readonly rules: FileRules;
  readonly logger: Logger;
  readonly times?: FileTimes;
};

/** The files of the runs in progress, by the names that their flows use. */
export type CallFiles = {
  /**
   * Step three: judges every reference of a call, then reads the files. Each reference becomes an object with the name
   * `file-N` of the file in this run.
   * @throws AgentError file_refused, too_many_runs, file_provider_mapping_failed, cancelled
   */
  resolve(parts: readonly CallPart[], use: FileUse, signal: AbortSignal): Promise<readonly CallPart[]>;
  /** The texts that file nodes of a run can read; step four judges them. */
  texts(runId: string): readonly string[];
  /** Replaces the texts by those that the input policy allows. */
  setTexts(runId: string, texts: readonly string[]): void;
  find(runId: string, fileId: string): RunFile | undefined;
  /** Removes all temporary files of a run. */
  end(runId: string): Promise<void>;
};

/** The files of one run, and their bytes in the budget. */
type RunFiles = { readonly files: Map<string, RunFile>; readonly held: TakenBytes };

/** The files of a version with files enabled (docs/design/file-references.md). */
export function createCallFiles(options: CallFilesOptions): CallFiles {
  const { budget, provider } = options;
  const runs = new Map<string, RunFiles>();
  return {
    async resolve(parts, use, signal) {
      const found = parts.flatMap((part) => (part.kind === 'data' ? listReferences(part.data) : []));
      if (found.length === 0) return parts;
      const granted = await checkAll(options, found, use, signal);
      const files = new Map<string, RunFile>();
      const held = budget.open();
      runs.set(use.runId, { files, held });
      await holdBytes(held, totalSize(granted), signal);
      for (const one of granted) {
        const loaded = await load(options, one, signal);
        files.set(`file-${files.size + 1}`, loaded);
        if (loaded.text === undefined) held.release(one.file.size);
      }
      held.settle();
      const names = [...files.keys()];
      const shown = granted.map(
        ({ reference: { name, mediaType, size } }, at): JsonValue => ({
          fileId: names[at] ?? '',
          name,
          mediaType,
          size,
        }),
      );
      return parts.map((part): CallPart => {
        if (part.kind === 'text') return part;
        return { kind: 'data', data: replaceReferences(part.data, shown.splice(0, listReferences(part.data).length)) };
      });
    },
    texts: (runId) =>
      [...(runs.get(runId)?.files.values() ?? [])].flatMap(({ text }) => (text === undefined ? [] : [text])),
    setTexts(runId, texts) {
      const left = [...texts];
      const files = runs.get(runId)?.files ?? new Map<string, RunFile>();
      for (const [name, file] of files) {
        if (file.text !== undefined) files.set(name, { ...file, text: left.shift() ?? '' });
      }
    },
    find: (runId, fileId) => runs.get(runId)?.files.get(fileId),
    async end(runId) {
      const { files, held } = runs.get(runId) ?? {};
      runs.delete(runId);
      held?.[Symbol.dispose]();
      for (const { providerFileId } of files?.values() ?? []) {
        if (providerFileId !== undefined) await provider.remove(providerFileId);
      }
    },
  };
}

/**
 * Reserves memory for all files of a call at once, so that no call waits while it holds a part. @throws AgentError
 * too_many_runs, cancelled
 */
async function holdBytes(held: TakenBytes, bytes: number, signal: AbortSignal): Promise<void> {
  const leave = (): void => held[Symbol.dispose]();
  signal.addEventListener('abort', leave, { once: true });
  try {
    if (signal.aborted) leave();
    const isHeld = await held.take(bytes);
    if (signal.aborted) throw new AgentError('cancelled');
    if (!isHeld) throw new AgentError('too_many_runs');
  } finally {
    signal.removeEventListener('abort', leave);
  }
}

function totalSize(granted: readonly Granted[]): number {
  return granted.reduce((sum, { file }) => sum + file.size, 0);
}

type Granted = { readonly reference: FileReference; readonly file: GrantedFile };

/** Every reference is judged before the first byte of any file is read. */
async function checkAll(
  { access, rules, logger, times = fileLimits }: CallFilesOptions,
  found: readonly JsonValue[],
  use: FileUse,
  signal: AbortSignal,
): Promise<readonly Granted[]> {
  if (found.length > mostFileReferences) throw new AgentError('file_refused');
  const references = found.map((one) => {
    const read = fileReferenceSchema.safeParse(one);
    if (read.success) return read.data;
    logger.warn('file_reference', { decision: 'reference_invalid' });
    throw new AgentError('file_refused');
  });
  const total = references.reduce((sum, { size }) => sum + size, 0);
  using deadline = withTimeout(signal, times.checkMs);
  const granted: Granted[] = [];
  for (const reference of references) {
    granted.push(
      await decide(logger, reference, signal, async () => {
        if (!rules.mediaTypes.includes(reference.mediaType)) throw new FileRefusedError('media_type_wrong');
        const isTooLong =
          rules.uses.has('text') && hasText(reference.mediaType) && reference.size > flowLimits.outputBytes;
        if (total > rules.maxBytes || isTooLong) throw new FileRefusedError('size_wrong');
        if (Date.parse(reference.expiresAt) <= Date.now()) throw new FileRefusedError('expired');
        const file = await unlessLate(access.check(reference, use, deadline.signal), deadline.signal);
        const isSame =
          file.mediaType === reference.mediaType &&
          file.size === reference.size &&
          file.sha256 === reference.sha256.toLowerCase();
        if (!isSame) throw new FileRefusedError('file_wrong');
        return { reference, file };
      }),
    );
  }
  return granted;
}

/** Reads one file, checks its content, and loads it in the forms that the flow uses. */
async function load(
  { provider, rules, logger, times = fileLimits }: CallFilesOptions,
  { reference, file }: Granted,
  signal: AbortSignal,
): Promise<RunFile> {
  const { mediaType } = file;
  return await decide(logger, reference, signal, async () => {
    const bytes = await readGrantedFile(file, times.readMs, signal);
    const text = rules.uses.has('text') ? fileText(bytes, mediaType) : undefined;
    const providerFileId = rules.uses.has('provider') ? await provider.put(bytes) : undefined;
    return {
      mediaType,
      ...(text === undefined ? {} : { text }),
      ...(providerFileId === undefined ? {} : { providerFileId }),
    };
  });
}

/** Logs the decision with a safe file id and a part of the hash only (`fileref:log:allowed`). @throws AgentError */
async function decide<T>(
  logger: Logger,
  { fileId, sha256 }: FileReference,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  const note = { fileId: fileId.toLowerCase(), hashPrefix: sha256.slice(0, 8).toLowerCase() };
  try {
    const result = await work();
    logger.info('file_reference', { ...note, decision: 'allowed' });
    return result;
  } catch (error) {
    if (signal.aborted) throw new AgentError('cancelled');
    if (error instanceof FileRefusedError || error instanceof FileContentError) {
      logger.warn('file_reference', { ...note, decision: error.code });
      throw new AgentError('file_refused');
    }
    logger.warn('file_reference', { ...note, decision: 'unavailable' });
    throw new AgentError('file_provider_mapping_failed');
  }
}

async function unlessLate<T>(work: Promise<T>, deadline: AbortSignal): Promise<T> {
  const late = Promise.withResolvers<never>();
  const onAbort = (): void => late.reject(new FileUnavailableError());
  deadline.addEventListener('abort', onAbort, { once: true });
  if (deadline.aborted) onAbort();
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    deadline.removeEventListener('abort', onAbort);
  }
}
