/** Texts from which one is chosen at random. */
export type Lines = readonly string[];

/**
 * How persons of one language and the assistant write to each other. In a line, {pool} or {pool:form} stands for a
 * distinctive word, {~pool} for an ordinary word, [word] for a literal distinctive word, and <his|hers> depends on the
 * person; a typographic apostrophe is replaced by the one that the person types.
 */
export type DialogueVoice = {
  readonly pools: Readonly<Record<string, Lines>>;
  readonly facts: Lines;
  readonly changes: Lines;
  readonly asks: Lines;
  readonly remarks: Lines;
  readonly greetings: Lines;
  readonly leads: Lines;
  readonly updates: Lines;
  readonly tails: Lines;
  readonly answers: Lines;
  readonly replies: Lines;
  readonly thanks: Lines;
};

export const linesOf = (text: string): Lines => text.split(' ');
export const formsOf = (stems: string, endings: string): Lines =>
  linesOf(stems).map((stem) =>
    endings
      .split('/')
      .map((ending) => stem + ending)
      .join('/'),
  );
export const numbersOf = (low: number, high: number): Lines =>
  Array.from({ length: high - low + 1 }, (_, i) => `${low + i}`);
