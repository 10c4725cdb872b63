import type { FileReference, FileRefusal, FileUse } from '#contracts/file-reference';

/** The capability of a file reference is not valid. The message repeats no part of the reference. */
export class FileRefusedError extends Error {
  readonly code: FileRefusal;

  constructor(code: FileRefusal) {
    super(`the file reference is refused: ${code}`);
    this.name = 'FileRefusedError';
    this.code = code;
  }
}

/** A file service or a provider of files does not work now. The message has no address and no path. */
export class FileUnavailableError extends Error {
  constructor() {
    super('the file cannot be read now');
    this.name = 'FileUnavailableError';
  }
}

/** A file whose capability is valid, as its service describes it. */
export type GrantedFile = {
  readonly mediaType: string;
  readonly size: number;
  /** SHA-256 of the content in lower-case hexadecimal. */
  readonly sha256: string;
  /**
   * The bytes of the file. The first call uses one of the reads of the capability; every later call is refused.
   * @throws FileRefusedError, FileUnavailableError
   */
  open(signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
};

/** The place where files are stored (`fileref:adapter:typed-port`). */
export type FileAccess = {
  /**
   * Asks the endpoint of the file whether the capability of a reference is valid for one use. No byte of the file is
   * read. @throws FileRefusedError if it is not valid, FileUnavailableError if the endpoint does not answer
   */
  check(reference: FileReference, use: FileUse, signal: AbortSignal): Promise<GrantedFile>;
  /**
   * Checks whether references can be judged now. Reads no file and uses no capability.
   * @throws FileUnavailableError
   */
  probe(signal: AbortSignal): Promise<void>;
};

/** Temporary objects for the bytes of a run (`fileref:adapter:provider-load`). */
export type FileProvider = {
  /** Stores bytes under a new id, which no other run and no other agent gets. @throws FileUnavailableError */
  put(bytes: Uint8Array): Promise<string>;
  /**
   * Removes an object; removing an absent object changes nothing. An object that could not be removed is removed when
   * it expires.
   */
  remove(id: string): Promise<void>;
};
