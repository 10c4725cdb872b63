import type { JudgedTextKind } from '#contracts/judged-texts';
import type { JsonNode } from '#kit/json/parse-tree';
import type { CheckUnit } from '../chat/check-unit.ts';
import { collectNested, collectTexts, newBudget, withoutRepetitions } from './collect-texts.ts';
import { escapedTexts } from './escaped-texts.ts';

/**
 * Texts in addition to those of the contract: the texts to judge, and the place of the first text that cannot be
 * judged.
 */
export type Covered = { readonly units: readonly CheckUnit[]; readonly unjudgedAt: string | undefined };

/** Sorts the texts of a body by their kind. `place` is a path of known names, for an error message. */
export type TextCollector = {
  /**
   * Takes all texts of a value, and its numbers: all numbers if `numbers` is true and the kind is judged, otherwise
   * only long ones.
   */
  take(kind: JudgedTextKind, node: JsonNode | undefined, place: string, role: string, numbers: true | 'long'): void;
  /** A name: all texts of it and its long numbers. A mask of it has no place, because the API or a tool reads it. */
  takeName(node: JsonNode | undefined, place: string, role: string): void;
  /** A string that holds JSON, or a value whose strings may hold some. */
  takeNested(kind: JudgedTextKind, node: JsonNode, place: string, role: string): void;
  /** A text that no check can read, such as a document in base64. */
  unreadable(place: string): void;
  /** A text that was decoded, so that a mask of it has no place in the body. */
  takeDecoded(kind: JudgedTextKind, content: string, place: string, role: string): void;
  covered(): Covered;
};

/** @param judged the kinds that `judge` of the binding adds */
export function collectorFor(bytes: Uint8Array, judged: ReadonlySet<JudgedTextKind>): TextCollector {
  const units: CheckUnit[] = [];
  const budget = newBudget();
  let unjudgedAt: string | undefined;
  const textsOf = (
    kind: JudgedTextKind,
    node: JsonNode,
    role: string,
    numbers: true | 'long',
  ): readonly CheckUnit[] => {
    if (judged.has(kind)) return collectTexts(node, bytes, { role, numbers });
    const found = collectTexts(node, bytes, { role, numbers: 'long' });
    // Values of the API, such as "auto", are judged only if their kind is judged. A reasoning contains no such values.
    const mayBeValue = kind === 'parameters' || (node.kind === 'string' && kind !== 'reasoning');
    return mayBeValue && isApiValue(found.filter((unit) => !isShortNumber(unit)).map(({ content }) => content))
      ? []
      : found;
  };
  const add = (kind: JudgedTextKind, found: readonly CheckUnit[], place: string): void => {
    if (found.length === 0) return;
    if (!judged.has(kind)) unjudgedAt ??= place;
    else for (const unit of found) units.push(unit);
  };
  return {
    take(kind, node, place, role, numbers) {
      if (node !== undefined) add(kind, textsOf(kind, node, role, numbers), place);
    },
    takeName(node, place, role) {
      const units = node === undefined ? [] : textsOf('names', node, role, 'long');
      add(
        'names',
        units.map(({ content }) => ({ role, content, place: { kind: 'fixed' } })),
        place,
      );
    },
    takeNested(kind, node, place, role) {
      if (node.kind === 'string') add(kind, collectNested(node, { role, numbers: true }, budget), place);
      else {
        const units = textsOf(kind, node, role, true);
        add(kind, [...units, ...units.flatMap((unit) => escapedTexts(unit, budget))], place);
      }
    },
    unreadable(place) {
      unjudgedAt ??= place;
    },
    takeDecoded(kind, content, place, role) {
      if (content === '' || (!judged.has(kind) && isApiWord(content))) return;
      add(kind, [{ role, content, place: { kind: 'fixed' } }], place);
    },
    covered: () => ({ units: withoutRepetitions(units), unjudgedAt }),
  };
}

function isShortNumber({ content, place }: CheckUnit): boolean {
  return place.kind === 'fixed' && isShortNumberKey(content);
}

/**
 * Whether a key consists of a few digits only, such as the number of a token. A number of this length does not count as
 * text either.
 */
export function isShortNumberKey(key: string): boolean {
  return /^\d{1,11}$/.test(key);
}

/** The most different words of a value of the API: a content filter has about ten. */
const mostApiWords = 16;

/** Whether the strings and keys of one value are values of the API: a few single words in lower case. */
export function isApiValue(texts: readonly string[]): boolean {
  return new Set(texts).size <= mostApiWords && texts.every(isApiWord);
}

const apiWord = /^[a-z_]{1,24}$/;

/** Whether a text is a single word in lower case, like the values of the API: "auto", "low", "reasoning_details". */
export function isApiWord(text: string): boolean {
  return apiWord.test(text);
}
