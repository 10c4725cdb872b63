/** One add of a crash test. */
export type CrashAdd = {
  /** Its Idempotency-Key; also names what it says. */
  readonly key: string;
  readonly user: string;
  readonly kind: (typeof kinds)[number];
  /** The key of the add before it of the same person; its own for the first one. */
  readonly before: string;
};

/** Two messages as they are, a fact that replaces the one before it, a new one, and one that is known. */
const kinds = ['given', 'residence', 'taste', 'repetition'] as const;

/** Adds of several persons, each of whom makes all kinds of adds in turn. Batches have different persons. */
export function crashAdds(batch: string, count: number, persons: number): readonly CrashAdd[] {
  return Array.from({ length: count }, (_, n) => ({
    key: `${batch}${n}`,
    user: `${batch}-${n % persons}`,
    kind: kinds[Math.floor(n / persons) % kinds.length] as CrashAdd['kind'],
    before: `${batch}${n < persons ? n : n - persons}`,
  }));
}

export function crashBody(add: CrashAdd): object {
  const messages = textsOf(add).map((text) => ({ role: 'user', content: `${text}.` }));
  return { agent_id: 'tutor', infer: add.kind !== 'given', messages };
}

/** What an add says; the memories have the sentences without the full stop, given ones with it. */
function textsOf({ key, kind, before }: CrashAdd): readonly string[] {
  switch (kind) {
    case 'given':
      return [`note ${key} one`, `note ${key} two`];
    case 'residence':
      return [`I live in City${key}`];
    case 'taste':
      return [`I like number${key}`];
    case 'repetition':
      return [`I like number${before}`];
  }
}

/** What is known of a person after adds that took effect. */
type ExpectedMemories = {
  readonly texts: readonly string[];
  /** All texts of the memory of the residence, the oldest first. */
  readonly residences: readonly string[];
};

/** @param adds those of one person that succeeded, in their order */
export function expectedMemories(adds: readonly CrashAdd[]): ExpectedMemories {
  const residences = adds.filter(({ kind }) => kind === 'residence').flatMap(textsOf);
  const others = adds.flatMap((add) => {
    if (add.kind === 'residence') return [];
    return add.kind === 'given' ? textsOf(add).map((text) => `${text}.`) : textsOf(add);
  });
  return { texts: [...new Set(others), ...residences.slice(-1)], residences };
}
