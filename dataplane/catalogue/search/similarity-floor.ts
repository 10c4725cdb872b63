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

/** How near unrelated texts are to each other in a profile; asked from the model once, and kept for the process. */
export type SimilarityFloor = {
  /** The highest cosine of a task and a description of another subject. @throws ModelsError */
  of(profile: EmbeddingProfile, call: ModelCall): Promise<number>;
};

/**
 * A cosine has another meaning for each model: for one of them unrelated texts are at 0.1, for another at 0.8. So the bound is
 * measured with the model itself (docs/design/catalogue.md).
 */
export function createSimilarityFloor(models: Pick<Models, 'embed'>): SimilarityFloor {
  const known = new Map<string, number>();
  return {
    async of(profile, call) {
      const key = JSON.stringify(profile);
      const kept = known.get(key);
      if (kept !== undefined) return kept;
      const [tasks, descriptions] = await Promise.all([
        models.embed(
          profile,
          'query',
          subjects.map(([task]) => task),
          call,
        ),
        models.embed(
          profile,
          'passage',
          subjects.map(([, description]) => description),
          call,
        ),
      ]);
      const unrelated = tasks.flatMap((task, at) =>
        descriptions.filter((_description, of) => of !== at).map((description) => cosineOf(task, description)),
      );
      const floor = Math.max(...unrelated);
      known.set(key, floor);
      return floor;
    },
  };
}

/** Of two vectors of unit length. */
function cosineOf(one: Float32Array, other: Float32Array): number {
  return one.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0);
}
