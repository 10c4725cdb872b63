import { createHash } from 'node:crypto';
import type { Automaton } from '../../rules/pattern/cost/determinize.ts';
import type { FigureSource, FiringFigures, ListingFigures } from '../../rules/pattern/cost/pattern-figures.ts';
import type { StoredFigures } from './figure-schemas.ts';

/**
 * Maximum number of figures of each kind: enough for about 30 policies of 200 rules. The oldest figures are dropped
 * first.
 */
const maxFigures = 6_000;

export type WorkedOut = {
  readonly firing: FiringFigures;
  /** The figures for listing matches; absent for a pattern whose matches are not listed. */
  readonly listing?: ListingFigures | undefined;
  readonly set?: Automaton | undefined;
};

/** The figures of patterns from earlier validations, and those that this process adds. */
export type FigureBook = {
  readonly source: FigureSource;
  has(key: string, lists: boolean): boolean;
  add(key: string, worked: WorkedOut): void;
  /** Counts the figures that were added or computed, so that an unchanged book is not written again. */
  added(): number;
  content(): StoredFigures;
};

export function openFigureBook(known: StoredFigures): FigureBook {
  const firing = shelf(known.firing);
  const listing = shelf(known.listing);
  const joint = shelf(known.joint);
  const automata = new Map<string, Automaton | undefined>();
  return {
    source: {
      firing: (key, workOut) => firing.get(digestOfKeys([key]), workOut),
      listing: (key, workOut) => listing.get(digestOfKeys([key]), workOut),
      joint: (keys, workOut) => joint.get(digestOfKeys(keys), () => workOut() ?? null) ?? undefined,
      set: (key, build) => (automata.has(key) ? automata.get(key) : build()),
    },
    has(key, lists) {
      const digest = digestOfKeys([key]);
      return firing.has(digest) && (!lists || listing.has(digest));
    },
    add(key, worked) {
      const digest = digestOfKeys([key]);
      firing.get(digest, () => worked.firing);
      const listed = worked.listing;
      if (listed !== undefined) listing.get(digest, () => listed);
      automata.set(key, worked.set);
    },
    added: () => firing.added() + listing.added() + joint.added(),
    content: () => ({ firing: firing.rows(), listing: listing.rows(), joint: joint.rows() }),
  };
}

/** One kind of figures, in the order of their last use. */
function shelf<T>(known: readonly (readonly [string, T])[]) {
  const entries = new Map<string, T>(known);
  let added = 0;
  return {
    has: (digest: string): boolean => entries.has(digest),
    get(digest: string, workOut: () => T): T {
      const found = entries.get(digest);
      if (found === undefined) added += 1;
      const value = found === undefined ? workOut() : found;
      entries.delete(digest);
      entries.set(digest, value);
      return value;
    },
    added: (): number => added,
    rows: (): [string, T][] => [...entries].slice(-maxFigures),
  };
}

/** Each key follows its length, so that different lists never have the same input to the digest. */
function digestOfKeys(keys: readonly string[]): string {
  const hash = createHash('sha256');
  for (const key of keys) hash.update(`${key.length}:`).update(key);
  return hash.digest('base64url');
}
