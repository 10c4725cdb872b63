/** A mistake of a user on the command line, and the required content of the error message. */
export type Mistake = {
  readonly title: string;
  /**
   * Words of the command line; the placeholders are FOLDER for the folder of the files, DATA for the data directory,
   * GATEWAY for its origin.
   */
  readonly args: readonly string[];
  /** Files by name; a name that ends with a slash is a folder. */
  readonly files?: Readonly<Record<string, string>>;
  /** Encoding of the files; UTF-8 if absent. */
  readonly encoding?: BufferEncoding;
  readonly input?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly exit: number;
  /** Words that name the place: command, option, file, line, column, field, resource. */
  readonly place: readonly string[];
  /** Words that name the remedy. */
  readonly remedy: readonly string[];
  /** Words that would mislead the reader. */
  readonly without?: readonly string[];
};
