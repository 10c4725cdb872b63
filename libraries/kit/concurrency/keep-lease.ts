/**
 * Renews a lease three times within its length. The returned signal is aborted when the claim has ended or the parent
 * signal is aborted.
 * @param renew returns false if the claim has ended
 */
export function keepLease(
  renew: () => Promise<boolean>,
  leaseMs: number,
  parent: AbortSignal,
): Disposable & { readonly signal: AbortSignal } {
  const over = new AbortController();
  const timer = setInterval(() => {
    // A renewal that has no answer is not the end of the claim: every write checks the claim itself.
    renew().then(
      (isHeld) => isHeld || over.abort(new Error('the claim is over')),
      () => undefined,
    );
  }, leaseMs / 3);
  return { signal: AbortSignal.any([parent, over.signal]), [Symbol.dispose]: () => clearInterval(timer) };
}
