import { asFlowError, FlowError } from './flow-error.ts';

/**
 * Runs a function for each item, at most `width` at the same time, and returns the results in the order of the items.
 * The first error aborts the other calls, and is thrown when all have ended.
 */
export async function runEach<Item, Result>(
  items: readonly Item[],
  width: number,
  signal: AbortSignal,
  each: (item: Item, index: number, signal: AbortSignal) => Promise<Result>,
): Promise<readonly Result[]> {
  const controller = new AbortController();
  const onParent = (): void => controller.abort(signal.reason);
  if (signal.aborted) onParent();
  signal.addEventListener('abort', onParent, { once: true });
  const results: Result[] = [];
  let next = 0;
  let failure: { readonly error: unknown } | undefined;
  async function work(): Promise<void> {
    while (next < items.length && failure === undefined) {
      const index = next;
      next += 1;
      try {
        results[index] = await each(items[index] as Item, index, controller.signal);
      } catch (error) {
        failure ??= { error };
        controller.abort(new FlowError('cancelled'));
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, work));
  signal.removeEventListener('abort', onParent);
  if (signal.aborted) throw asFlowError(signal.reason);
  if (failure !== undefined) throw failure.error;
  return results;
}
