/** Whether a request failed before it had a connection, so that the server has received no part of it. */
export function neverConnected(error: unknown): boolean {
  for (let next: unknown = error; next instanceof Error; next = next.cause) {
    // The error of an attempt with several addresses of one name.
    if (next instanceof AggregateError && next.errors.length > 0) return next.errors.every(neverConnected);
    const { code, syscall } = next as NodeJS.ErrnoException;
    if (syscall === 'connect' || syscall === 'getaddrinfo' || code === 'UND_ERR_CONNECT_TIMEOUT') return true;
  }
  return false;
}
