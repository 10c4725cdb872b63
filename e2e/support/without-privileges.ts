/** User id without any rights. */
const nobody = 65_534;

/** Until disposal, this process has the rights of a user who is not root, because root can read every file. */
export function withoutPrivileges(): Disposable {
  const before = process.geteuid?.() ?? nobody;
  if (before === 0) process.seteuid?.(nobody);
  return {
    [Symbol.dispose]() {
      if (before === 0) process.seteuid?.(before);
    },
  };
}
