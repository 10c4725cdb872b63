/** Whether a request failed before it had a connection, so that the server has received nothing of it. */
export function neverConnected(error: unknown): boolean {
  for (let next: unknown = error; next instanceof Error; next = next.cause) {
    // Several addresses of one name were tried.
    if (next instanceof AggregateError && next.errors.length > 0) return next.errors.every(neverConnected);
    const { code, syscall } = next as NodeJS.ErrnoException;
    if (syscall === 'connect' || syscall === 'getaddrinfo' || code === 'UND_ERR_CONNECT_TIMEOUT') return true;
  }
  return false;
}
