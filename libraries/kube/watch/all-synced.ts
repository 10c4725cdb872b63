/**
 * Resolves when all parts are synced, and rejects when a part was stopped before that. The rejection may stay
 * unobserved: if a part is disposed because another step of a start failed, the rejection must not hide the error of
 * that step.
 */
export function allSynced(parts: readonly { readonly synced: Promise<void> }[]): Promise<void> {
  const all = Promise.all(parts.map(({ synced }) => synced)).then(() => undefined);
  all.catch(() => {});
  return all;
}
