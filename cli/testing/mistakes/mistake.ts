/** A mistake that somebody types, and what the message about it must say. */
export type Mistake = {
  readonly title: string;
  /** Words of the command line; FOLDER stands for the folder of the files. */
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
  /** Words that say what to do now. */
  readonly remedy: readonly string[];
};
