/** The number of ways to get from one character of a pattern to another; more than two ways count as two. */
type Ways = Map<number, number>;

/** A part of a pattern: the characters with which it can begin and end, and in how many ways it can be empty. */
type Part = { readonly first: Ways; readonly last: Ways; readonly empty: number };

const most = 2;
/** A repetition with a higher limit counts as an unlimited repetition. */
const longestBounded = 6;
const nothing: Part = { first: new Map(), last: new Map(), empty: 1 };

/** One character of each kind that the patterns distinguish. */
const samples = [
  ...Array.from({ length: 126 }, (_, at) => String.fromCodePoint(at + 1)),
  ...'абвгдеёжзийклмнопрстуфхцчшщъыьэюяАБВГДЕЁЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯ',
  ...'éÉ’‘“”„«»–—…•☺\u2028\uFE0F\u0301',
];

/**
 * A text for which a pattern without a match takes time that doubles with each of its repetitions: the pattern can read
 * it in two ways from one of its characters back to the same one. Undefined if there is no such text. Of lookarounds,
 * only a forbidden single next character is analysed, so that each repetition must be unambiguous without them.
 */
export function findAmbiguity({ source, flags }: RegExp): string | undefined {
  const pattern = new Reader(source, flags);
  pattern.read();
  for (const at of pattern.edges.keys()) {
    const text = repeatedFrom(pattern, at);
    if (text !== undefined) return text;
  }
  return undefined;
}

type Automaton = { readonly edges: readonly Ways[]; readonly accepted: readonly ReadonlySet<string>[] };

/** A text that leads from a character back to the same character in two ways, which differ after that character. */
function repeatedFrom(automaton: Automaton, start: number): string | undefined {
  const { edges } = automaton;
  if (!parts(automaton, start)) return undefined;
  const cycle = cycleOf(automaton, start);
  type Step = { readonly one: number; readonly other: number; readonly isTwo: boolean; readonly text: string };
  const seen = new Set<string>();
  const open: Step[] = [{ one: start, other: start, isTwo: false, text: '' }];
  for (let step = open.pop(); step !== undefined; step = open.pop()) {
    for (const [one, ways] of edges[step.one] ?? []) {
      if (!cycle.has(one)) continue;
      for (const other of edges[step.other]?.keys() ?? []) {
        const shared = cycle.has(other) ? sharedBy(automaton, one, other) : undefined;
        if (shared === undefined) continue;
        const isTwo = step.isTwo || one !== other || (step.one === step.other && ways > 1);
        const text = step.text + shared;
        if (isTwo && one === start && other === start) return text;
        const key = `${one} ${other} ${isTwo}`;
        if (seen.has(key)) continue;
        seen.add(key);
        open.push({ one, other, isTwo, text });
      }
    }
  }
  return undefined;
}

function parts(automaton: Automaton, at: number): boolean {
  const next = [...(automaton.edges[at] ?? [])];
  return next.some(
    ([one, ways], place) =>
      ways > 1 || next.slice(place + 1).some(([other]) => sharedBy(automaton, one, other) !== undefined),
  );
}

/** A sample that two characters of the pattern accept. */
function sharedBy({ accepted }: Automaton, one: number, other: number): string | undefined {
  const [samplesOfOne, samplesOfOther] = [accepted[one], accepted[other]];
  if (samplesOfOne === undefined || samplesOfOther === undefined) return undefined;
  const known = shares.get(samplesOfOne) ?? new Map<ReadonlySet<string>, string | undefined>();
  shares.set(samplesOfOne, known);
  if (!known.has(samplesOfOther))
    known.set(
      samplesOfOther,
      [...samplesOfOne].find((one) => samplesOfOther.has(one)),
    );
  return known.get(samplesOfOther);
}

const shares = new WeakMap<ReadonlySet<string>, Map<ReadonlySet<string>, string | undefined>>();

/** The characters that can be reached from a character and from which it can be reached again. */
function cycleOf({ edges }: Automaton, start: number): ReadonlySet<number> {
  const back = edges.map((): number[] => []);
  for (const [from, to] of edges.entries()) for (const at of to.keys()) back[at]?.push(from);
  const after = reached(start, (at) => edges[at]?.keys() ?? []);
  const before = reached(start, (at) => back[at] ?? []);
  return new Set([...after].filter((at) => before.has(at)));
}

function reached(start: number, next: (at: number) => Iterable<number>): ReadonlySet<number> {
  const found = new Set<number>();
  const open = [start];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const to of next(at)) {
      if (found.has(to)) continue;
      found.add(to);
      open.push(to);
    }
  }
  return found;
}

const quantifier = /(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})\??/y;
const barredNext = /\(\?!(\[(?:\\.|[^\]\\])*\]|\\\)|\w)\)/sy;
const lookaround = /\(\?<?[=!]/y;
const group = /\((?:\?(?:<[\w]+>|(i?)(?:-(i?))?:))?/y;
const border = /\^|\$|\\[bB]/y;
const atom = /\[(?:\\.|[^\]\\])*\]|\\[pP]\{[^}]*\}|\\u\{[^}]*\}|\\u[\dA-Fa-f]{4}|\\x[\dA-Fa-f]{2}|\\.|./sy;

/** Reads a pattern into its characters and the ways between them. A lookaround is a separate pattern. */
class Reader {
  readonly edges: Ways[] = [];
  readonly accepted: ReadonlySet<string>[] = [];
  readonly #source: string;
  /** For each character, the next characters that a lookaround forbids. */
  readonly #barred = new Map<number, ReadonlySet<string>>();
  #flags: string;
  #at = 0;

  constructor(source: string, flags: string) {
    this.#source = source;
    this.#flags = flags.replace(/[^ius]/g, '');
  }

  read(): Part {
    let whole = this.#sequence();
    while (this.#source[this.#at] === '|') {
      this.#at += 1;
      whole = either(whole, this.#sequence());
    }
    return whole;
  }

  #sequence(): Part {
    let whole = nothing;
    while (this.#at < this.#source.length && !'|)'.includes(this.#source.charAt(this.#at))) {
      const barred = this.#take(barredNext)?.[1];
      if (barred === undefined) whole = this.#joined(whole, this.#repeated());
      else for (const at of whole.last.keys()) this.#barred.set(at, this.#samplesOf(barred));
    }
    return whole;
  }

  #joined(before: Part, after: Part): Part {
    this.#link(before.last, after.first);
    return {
      first: sum(before.first, after.first, before.empty),
      last: sum(after.last, before.last, after.empty),
      empty: Math.min(most, before.empty * after.empty),
    };
  }

  #isBarred(from: number, to: number): boolean {
    const barred = this.#barred.get(from);
    return barred !== undefined && (this.accepted[to] ?? new Set()).isSubsetOf(barred);
  }

  #link(from: Ways, to: Ways): void {
    for (const [one, before] of from) {
      const ways = this.edges[one] as Ways;
      for (const [other, after] of to) {
        if (this.#isBarred(one, other)) continue;
        ways.set(other, Math.min(most, (ways.get(other) ?? 0) + before * after));
      }
    }
  }

  /** An item with its quantifier. In a short bounded repetition, each repetition has its own characters. */
  #repeated(): Part {
    const start = this.#at;
    const item = this.#item();
    const [found, mark, least = '', comma, greatest = ''] = this.#take(quantifier) ?? [];
    if (found === undefined) return item;
    const end = this.#at;
    if (mark === '?') return { ...item, empty: 1 };
    const [from, to] =
      mark === undefined
        ? [Number(least), comma ? Number(greatest || 'Infinity') : Number(least)]
        : [mark === '*' ? 0 : 1, Infinity];
    if (to > longestBounded) {
      // After the last repetition of a pattern the match cannot fail, so no other way is tried.
      if (end < this.#source.length) this.#link(item.last, item.first);
      return from === 0 ? { ...item, empty: 1 } : item;
    }
    let whole = from === 0 ? { ...item, empty: 1 } : item;
    for (let turn = 2; turn <= to; turn += 1) {
      this.#at = start;
      const next = this.#item();
      whole = this.#joined(whole, turn > from ? { ...next, empty: 1 } : next);
    }
    this.#at = end;
    return whole;
  }

  #item(): Part {
    if (this.#take(border) !== undefined) return nothing;
    if (this.#take(lookaround) !== undefined) {
      this.#body(this.#flags);
      return nothing;
    }
    const opened = this.#source[this.#at] === '(' ? this.#take(group) : undefined;
    if (opened !== undefined) {
      const [, added = '', removed = ''] = opened;
      return this.#body(removed === '' ? this.#flags + added : this.#flags.replace(removed, ''));
    }
    const text = this.#take(atom)?.[0] ?? '';
    const at = this.edges.push(new Map()) - 1;
    this.accepted.push(this.#samplesOf(text));
    return { first: new Map([[at, 1]]), last: new Map([[at, 1]]), empty: 0 };
  }

  /** The rest of a group, up to its end. */
  #body(flags: string): Part {
    const outer = this.#flags;
    this.#flags = [...new Set(flags)].join('');
    const part = this.read();
    this.#flags = outer;
    this.#at += 1;
    return part;
  }

  #take(form: RegExp): RegExpExecArray | undefined {
    form.lastIndex = this.#at;
    const found = form.exec(this.#source) ?? undefined;
    this.#at += found?.[0].length ?? 0;
    return found;
  }

  #samplesOf(text: string): ReadonlySet<string> {
    const key = `${this.#flags} ${text}`;
    const known = knownSamples.get(key) ?? acceptedBy(new RegExp(`^(?:${text})$`, this.#flags));
    knownSamples.set(key, known);
    return known;
  }
}

/** Samples by flags and text, because the patterns repeat the same characters. */
const knownSamples = new Map<string, ReadonlySet<string>>();

function acceptedBy(form: RegExp): ReadonlySet<string> {
  return new Set(samples.filter((sample) => form.test(sample)));
}

function either(one: Part, other: Part): Part {
  return {
    first: sum(one.first, other.first, 1),
    last: sum(one.last, other.last, 1),
    empty: Math.min(most, one.empty + other.empty),
  };
}

/** Adds two sets of ways; the second set is multiplied by `times`. */
function sum(one: Ways, other: Ways, times: number): Ways {
  const ways = new Map(one);
  if (times > 0) for (const [at, many] of other) ways.set(at, Math.min(most, (ways.get(at) ?? 0) + many * times));
  return ways;
}
