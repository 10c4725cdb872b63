import type { StorageDecision, StorageGuard } from '../guard/storage-guard.ts';

/** A document of a service: texts to check, and members that are not sent to the runtime. */
type CallersDocument = {
  readonly id: string;
  readonly accessList: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly texts: Readonly<Record<string, string>>;
};

/** A minimal service that stores documents and indexes their words. */
export function createStoringService(guard: StorageGuard) {
  const store = new Map<string, CallersDocument>();
  const index = new Map<string, Set<string>>();

  async function submit(document: CallersDocument): Promise<StorageDecision> {
    const names = Object.keys(document.texts);
    const decision = await guard.judge(Object.values(document.texts), new AbortController().signal);
    if (decision.kind !== 'passed') return decision;
    keep({ ...document, texts: Object.fromEntries(names.map((name, at) => [name, decision.texts[at] ?? ''])) });
    return decision;
  }

  function keep(document: CallersDocument): void {
    store.set(document.id, document);
    for (const text of Object.values(document.texts)) {
      for (const word of text.split(/\s+/)) index.set(word, (index.get(word) ?? new Set()).add(document.id));
    }
  }

  return { submit, store, find: (word: string) => [...(index.get(word) ?? [])], words: () => [...index.keys()] };
}
