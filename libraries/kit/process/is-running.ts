/** Whether the id belongs to a running process of this machine, or of this container. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // The process runs under another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
