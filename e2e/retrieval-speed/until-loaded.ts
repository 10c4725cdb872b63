import { SearchUnavailableError } from '#search/search-error';

/** Repeats a query whose partition takes longer to load than a query waits. */
export async function untilLoaded(search: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await search();
      return;
    } catch (error) {
      if (!(error instanceof SearchUnavailableError) || error.fault !== 'behind') throw error;
    }
  }
}
