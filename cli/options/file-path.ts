import { InvalidArgumentError } from 'commander';

/** Paths of files, by the members of the input that get them. */
export type FilePaths = Readonly<Record<string, string>>;

/** Adds one use of `--file`: `PATH` sets the member `file`, `MEMBER=PATH` sets another member. */
export function readFilePath(text: string, before: FilePaths = {}): FilePaths {
  const [, member = 'file', path = ''] = /^(?:([A-Za-z_][A-Za-z0-9_]*)=)?(.*)$/s.exec(text) ?? [];
  if (path === '') throw new InvalidArgumentError('It must be PATH or MEMBER=PATH.');
  if (Object.hasOwn(before, member)) {
    throw new InvalidArgumentError(`The member ${member} has a file already: write MEMBER=PATH for another member.`);
  }
  return { ...before, [member]: path };
}
