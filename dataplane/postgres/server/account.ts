/** The operating-system account that runs the PostgreSQL programs; undefined for the account of this process. */
export type Account = { readonly uid: number; readonly gid: number };

/**
 * PostgreSQL refuses to run as root, so it runs as the user nobody and the group nogroup, which have these ids on
 * Linux.
 */
const nobody: Account = { uid: 65_534, gid: 65_534 };

/** The account that runs PostgreSQL when this process is root. */
export function accountOf(uid: number | undefined = process.getuid?.()): Account | undefined {
  return uid === 0 ? nobody : undefined;
}

/**
 * The path by which a program refers to its working folder. Linux resolves this link without permission on the parent
 * folders; other systems need the path itself.
 */
export function workingFolder(path: string, account: Account | undefined): string {
  return account !== undefined && process.platform === 'linux' ? '/proc/self/cwd' : path;
}
