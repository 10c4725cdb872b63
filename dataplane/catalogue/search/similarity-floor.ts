import type { EmbeddingProfile, ModelCall, Models } from '#models/ports';

/** Tasks about subjects that have nothing in common, and a description of an agent for each of them. */
const subjects = [
  ['When is high tide tomorrow?', 'Tells tides and weather of harbours.'],
  ['Translate my poem into Portuguese.', 'Literary translation between languages.'],
  ['Why does a bicycle chain slip under load?', 'Diagnoses mechanical faults on bikes.'],
  ['Which vaccines do puppies need?', 'Veterinary advice for owners.'],
  ['Plan dinner for eight vegetarian guests.', 'Suggests recipes with shopping lists.'],
  ['Summarise this court ruling about leases.', 'Reads contracts, judgments, civil law.'],
  ['How far away is Andromeda?', 'Explains stars, planets, telescopes.'],
  ['Какие документы нужны для визы?', 'Помогает оформить заявление в консульство.'],
] as const;

/** The similarity of unrelated texts in a profile; measured with the model once, and kept until the process ends. */
export type SimilarityFloor = {
  /** The highest cosine of a task and a description of another subject. @throws ModelsError */
  of(profile: EmbeddingProfile, call: ModelCall): Promise<number>;
};

/**
 * The meaning of a cosine depends on the model: unrelated texts have 0.1 with one model and 0.8 with another. So the
 * bound is measured with the model itself (docs/design/catalogue.md).
 */
export function createSimilarityFloor(models: Pick<Models, 'embed'>): SimilarityFloor {
  const measured = new Map<string, Promise<number>>();
  return {
    async of(profile, { signal, ...call }) {
      const key = JSON.stringify(profile);
      const shared = measured.get(key);
      if (shared !== undefined) return await unlessAborted(shared, signal);
      // This call is made without the signal of this search, because other searches wait for the same answer.
      const floor = measure(models, profile, call);
      measured.set(key, floor);
      floor.catch(() => measured.delete(key));
      return await unlessAborted(floor, signal);
    },
  };
}

/** The highest cosine of a task and a description of another subject. @throws ModelsError */
async function measure(models: Pick<Models, 'embed'>, profile: EmbeddingProfile, call: ModelCall): Promise<number> {
  const tasks = subjects.map(([task]) => task);
  const descriptions = subjects.map(([, description]) => description);
  const [queries, passages] = await Promise.all([
    models.embed(profile, 'query', tasks, call),
    models.embed(profile, 'passage', descriptions, call),
  ]);
  const unrelated = queries.flatMap((query, at) =>
    passages.filter((_passage, of) => of !== at).map((passage) => cosineOf(query, passage)),
  );
  return Math.max(...unrelated);
}

/** @throws the reason of the signal */
async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal?.reason);
  if (signal?.aborted === true) onAbort();
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal?.removeEventListener('abort', onAbort);
  }
}

/** The cosine of two vectors of unit length. */
function cosineOf(one: Float32Array, other: Float32Array): number {
  return one.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0);
}
