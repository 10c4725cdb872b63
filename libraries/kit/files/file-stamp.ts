import { type BigIntStats, statSync } from 'node:fs';

/** Changes when the file is written or replaced; a mounted Secret gets a new inode. */
export function fileStamp({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(':');
}

/** The stamp of the file at a path; `absent` if it cannot be examined. */
export function readFileStamp(path: string): string {
  try {
    return fileStamp(statSync(path, { bigint: true }));
  } catch {
    return 'absent';
  }
}
