/** One add of a crash test. */
export type CrashAdd = {
  /** The Idempotency-Key of the add, which also identifies its texts. */
  readonly key: string;
  readonly user: string;
  readonly kind: (typeof kinds)[number];
  /** The key of the previous add of the same person; for the first add, its own key. */
  readonly before: string;
};

/**
 * Kinds of adds: two messages that are stored unchanged, a fact that replaces the previous one, a new fact, and a known
 * fact.
 */
const kinds = ['given', 'residence', 'taste', 'repetition'] as const;

/** Adds of several persons; each person sends all kinds of adds in turn. Each batch has its own persons. */
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

/** The texts of an add without the full stop; only memories of the kind `given` keep it. */
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

/** The memories of a person after the adds that took effect. */
type ExpectedMemories = {
  readonly texts: readonly string[];
  /** All texts of the residence memory, oldest first. */
  readonly residences: readonly string[];
};

/** @param adds the successful adds of one person, in order */
export function expectedMemories(adds: readonly CrashAdd[]): ExpectedMemories {
  const residences = adds.filter(({ kind }) => kind === 'residence').flatMap(textsOf);
  const others = adds.flatMap((add) => {
    if (add.kind === 'residence') return [];
    return add.kind === 'given' ? textsOf(add).map((text) => `${text}.`) : textsOf(add);
  });
  return { texts: [...new Set(others), ...residences.slice(-1)], residences };
}
