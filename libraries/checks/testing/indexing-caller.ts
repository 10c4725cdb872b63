import type { CheckClient, CheckTarget } from '../client.ts';
import { type FieldsOutcome, guardFields } from '../guard-fields.ts';

/** A document of a service: texts to check, and members that are not sent to the runtime. */
type CallersDocument = {
  readonly id: string;
  readonly accessList: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly texts: Readonly<Record<string, string>>;
};

/** A minimal service that stores documents and indexes their words. */
export function createIndexingCaller(client: CheckClient, target: CheckTarget) {
  const store = new Map<string, CallersDocument>();
  const index = new Map<string, Set<string>>();

  async function submit(document: CallersDocument): Promise<FieldsOutcome> {
    const outcome = await guardFields(client, target, 'request', new Map(Object.entries(document.texts)));
    switch (outcome.kind) {
      case 'pass':
      case 'mask':
        keep({ ...document, texts: Object.fromEntries(outcome.fields) });
        return outcome;
      case 'deny':
      case 'failed':
        return outcome;
    }
  }

  function keep(document: CallersDocument): void {
    store.set(document.id, document);
    for (const text of Object.values(document.texts)) {
      for (const word of text.split(/\s+/)) index.set(word, (index.get(word) ?? new Set()).add(document.id));
    }
  }

  return { submit, store, find: (word: string) => [...(index.get(word) ?? [])], words: () => [...index.keys()] };
}
