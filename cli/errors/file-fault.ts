type Fault = { readonly fault: string; readonly remedy: string };

const permission: Fault = { fault: 'permission is denied', remedy: 'check its owner and mode' };

/** Plain words for the error codes of the system. */
const fileFaults: Readonly<Record<string, Fault>> = {
  ENOENT: { fault: 'it does not exist', remedy: 'check the path' },
  EROFS: { fault: 'the file system is read-only', remedy: 'choose another place' },
  EACCES: permission,
  EPERM: permission,
  ENOSPC: { fault: 'no space is left on the disk', remedy: 'free some and repeat the command' },
  EDQUOT: { fault: 'the disk quota is exceeded', remedy: 'free some space and repeat the command' },
  ENOTDIR: { fault: 'a part of its path is not a folder', remedy: 'check the path' },
  EISDIR: { fault: 'it is a folder', remedy: 'give a file' },
  ELOOP: { fault: 'its symbolic links form a cycle', remedy: 'give the file itself' },
  ENAMETOOLONG: { fault: 'its name is too long', remedy: 'shorten it' },
  EMFILE: { fault: 'too many files are open', remedy: 'raise the limit (ulimit -n) and repeat the command' },
  EBUSY: { fault: 'another program uses it', remedy: 'end that program and repeat the command' },
};

/** Why a file cannot be used, as two phrases; undefined for an error that is not about a file. */
export function fileFault(error: unknown): Fault | undefined {
  const code = codeOf(error);
  return code !== undefined && Object.hasOwn(fileFaults, code) ? fileFaults[code] : undefined;
}

/** Whether the error means that a file does not exist. */
export function isAbsent(error: unknown): boolean {
  return codeOf(error) === 'ENOENT';
}

/** The phrases joined, for an error that may have any cause. */
export function fileReason(error: unknown): string {
  const { fault, remedy } = fileFault(error) ?? {
    fault: 'the system refused it',
    remedy: 'check the path and the disk',
  };
  return `${fault}: ${remedy}`;
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}
