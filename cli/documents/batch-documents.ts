import { retrievalLimits } from '#contracts/retrieval';
import type { DocumentInput } from '../retrieval/retrieval-client.ts';

/** Maximum number of documents and bytes in one submit: fewer than the service allows, so that progress is visible. */
const batchLimits = { documents: 50, bytes: retrievalLimits.bodyBytes / 2 } as const;

/** Collects documents into batches within the bounds. */
export function createBatcher(limits: { readonly documents: number; readonly bytes: number } = batchLimits) {
  let held: DocumentInput[] = [];
  let bytes = 0;
  const take = (): readonly DocumentInput[] => {
    const full = held;
    held = [];
    bytes = 0;
    return full;
  };
  return {
    /** @returns the batch that the document no longer fits into; empty if it fits */
    add(document: DocumentInput): readonly DocumentInput[] {
      const size = Buffer.byteLength(JSON.stringify(document));
      const isFull = held.length === limits.documents || (held.length > 0 && bytes + size > limits.bytes);
      const full = isFull ? take() : [];
      held.push(document);
      bytes += size;
      return full;
    },
    /** The documents of the last batch; empty if no documents are left. */
    rest: take,
  };
}
