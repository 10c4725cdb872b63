/** Plain words for the error codes of the system, each with the remedy. */
const fileFaults: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist: check the path',
  EROFS: 'the file system is read-only: choose another place',
  EACCES: 'permission denied: check its owner and mode',
  EPERM: 'permission denied: check its owner and mode',
  ENOSPC: 'no space is left on the disk: free some and repeat the command',
  EDQUOT: 'the disk quota is exceeded: free some space and repeat the command',
  ENOTDIR: 'a part of its path is not a folder: check the path',
  EISDIR: 'it is a folder: give a file',
  ELOOP: 'its symbolic links form a cycle: give the file itself',
  ENAMETOOLONG: 'its name is too long: shorten it',
  EMFILE: 'too many files are open: raise the limit (ulimit -n) and repeat the command',
  EBUSY: 'another program uses it: end that program and repeat the command',
};

type FileFault = {
  readonly isAbsent: boolean;
  /** A phrase with the remedy, without a full stop. */
  readonly reason: string;
};

/** Why a file cannot be used. */
export function fileFault(error: unknown): FileFault {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return {
    isAbsent: code === 'ENOENT',
    reason: fileReason(code) ?? 'the system refused it: check the path and the disk',
  };
}

/** The phrase for an error code of the system; undefined for one that is not known. */
export function fileReason(code: string): string | undefined {
  return Object.hasOwn(fileFaults, code) ? fileFaults[code] : undefined;
}
