/**
 * Resolves when all parts are synced, and rejects when one was stopped before. The rejection may stay unobserved: a part that
 * is disposed of because another step of a start failed must not hide the error of that step.
 */
export function allSynced(parts: readonly { readonly synced: Promise<void> }[]): Promise<void> {
  const all = Promise.all(parts.map(({ synced }) => synced)).then(() => undefined);
  all.catch(() => {});
  return all;
}
