/** As whom the programs of PostgreSQL run; undefined is as this process itself. */
export type Account = { readonly uid: number; readonly gid: number };

/** PostgreSQL refuses to run as root; nobody and nogroup have these numbers wherever Linux runs. */
const nobody: Account = { uid: 65_534, gid: 65_534 };

/** The account for PostgreSQL where this process is root. */
export function accountOf(uid: number | undefined = process.getuid?.()): Account | undefined {
  return uid === 0 ? nobody : undefined;
}

/**
 * How a program names its working folder where it may have no right to walk down to it: Linux follows this link without
 * asking the folders above. Elsewhere its path must do.
 */
export function workingFolder(path: string, account: Account | undefined): string {
  return account !== undefined && process.platform === 'linux' ? '/proc/self/cwd' : path;
}
