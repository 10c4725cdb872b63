import type { ByteRange } from '../checked-text.ts';

/** A list of terms as a policy writes it. No term is empty; no Unicode normalisation is done. */
export type TermList = { readonly terms: readonly string[]; readonly caseSensitive: boolean };

/**
 * A compiled list of terms. Its calls expect valid UTF-8, take time linear in the text (whatever text and list are) and
 * never fail.
 */
export type TermMatcher = {
  /** Whether any term of the list occurs in the text. */
  test(bytes: Buffer): boolean;
  /** The leftmost-longest occurrences from left to right, never overlapping, at most `limit`. */
  matches(bytes: Buffer, limit: number): ByteRange[];
  /**
   * The longest occurrence at each place that has one, from left to right, as starts and ends; occurrences may overlap.
   * The numbers are in one array, because a text can have an occurrence at each byte.
   */
  occurrences(bytes: Buffer): Int32Array;
};

/**
 * Scans a text from its end to its beginning and calls `found` with the longest occurrence at each position that has
 * one, until `found` returns true.
 */
type BackwardScan = (bytes: Buffer, found: (start: number, end: number) => boolean) => void;

/** Buffers of a scan; shared by all scans, because they never overlap in time. */
type ScanNotes = {
  /** For each piece that the automaton has read, the position of its end. */
  offsets: Int32Array;
  /** Positions at which terms may end. */
  places: Int32Array;
  /** Begin and end positions of the matches. */
  found: Int32Array;
};

const notes: ScanNotes = { offsets: new Int32Array(0), places: new Int32Array(0), found: new Int32Array(0) };

/** Returns scan buffers for a text of this many bytes. */
export function scanNotes(bytes: number): ScanNotes {
  if (notes.offsets.length > bytes) return notes;
  notes.offsets = new Int32Array(bytes + 1);
  notes.places = new Int32Array(2 * bytes + 1);
  notes.found = new Int32Array(2 * bytes);
  return notes;
}

/** Makes the matcher of a term list from its scan. */
export function matcherOf(scan: BackwardScan): TermMatcher {
  return {
    test(bytes) {
      let any = false;
      scan(bytes, () => {
        any = true;
        return true;
      });
      return any;
    },
    matches(bytes, limit) {
      const places = scanNotes(bytes.length).found;
      let count = 0;
      scan(bytes, (start, end) => {
        places[count] = start;
        places[count + 1] = end;
        count += 2;
        return false;
      });
      return leftmostLongest(places.subarray(0, count), limit);
    },
    occurrences(bytes) {
      const places = scanNotes(bytes.length).found;
      let at = places.length;
      scan(bytes, (start, end) => {
        at -= 2;
        places[at] = start;
        places[at + 1] = end;
        return false;
      });
      return places.slice(at);
    },
  };
}

/**
 * Selects leftmost-longest spans that do not overlap from the longest span at each position. The spans are given as
 * starts and ends, from the last to the first.
 */
function leftmostLongest(places: Int32Array, limit: number): ByteRange[] {
  const spans: ByteRange[] = [];
  let free = 0;
  for (let at = places.length - 2; at >= 0 && spans.length < limit; at -= 2) {
    const start = places[at] ?? 0;
    if (start < free) continue;
    const end = places[at + 1] ?? 0;
    spans.push({ start, end });
    free = end;
  }
  return spans;
}
