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

/** Strings and keys of kinds that are not judged, but are no text of an author: values of the API. */
export type ApiValues = {
  /**
   * Whether the strings and keys of one member are values of the API. Fixed keys and short numbers are left out.
   * @param place of the member; it ends with its name
   */
  readonly isValue: (place: string, texts: readonly string[]) => boolean;
  /** Whether the name of a tool or a speaker is one. */
  readonly isName: (name: string) => boolean;
  /** Whether any other single text is one. */
  readonly isWord: (text: string) => boolean;
};

/** In an answer the values of the API are a few single words: each provider has its own. */
const answerApiValues: ApiValues = { isValue: (_, texts) => isApiValue(texts), isName: isApiWord, isWord: isApiWord };

/**
 * @param judged the kinds that `judge` of the binding adds
 * @param values those of an answer, or of a request
 */
export function collectorFor(
  bytes: Uint8Array,
  judged: ReadonlySet<JudgedTextKind>,
  values: ApiValues = answerApiValues,
): TextCollector {
  const units: CheckUnit[] = [];
  const budget = newBudget();
  let unjudgedAt: string | undefined;
  const textsOf = (
    kind: JudgedTextKind,
    node: JsonNode,
    role: string,
    numbers: true | 'long',
    isValue: (texts: readonly string[]) => boolean,
  ): readonly CheckUnit[] => {
    if (judged.has(kind)) return collectTexts(node, bytes, { role, numbers });
    const found = collectTexts(node, bytes, { role, numbers: 'long' });
    // Values of the API, such as "auto", are judged only if their kind is judged. A reasoning contains no such values.
    const mayBeValue = kind === 'parameters' || (node.kind === 'string' && kind !== 'reasoning');
    return mayBeValue && isValue(found.filter((unit) => !isShortNumber(unit)).map(({ content }) => content))
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
      if (node === undefined) return;
      const isValue = (texts: readonly string[]): boolean => values.isValue(place, texts);
      add(kind, textsOf(kind, node, role, numbers, isValue), place);
    },
    takeName(node, place, role) {
      const units =
        node === undefined ? [] : textsOf('names', node, role, 'long', (texts) => texts.every(values.isName));
      add(
        'names',
        units.map(({ content }) => ({ role, content, place: { kind: 'fixed' } })),
        place,
      );
    },
    takeNested(kind, node, place, role) {
      if (node.kind === 'string') add(kind, collectNested(node, { role, numbers: true }, budget), place);
      else {
        const units = textsOf(kind, node, role, true, (texts) => values.isValue(place, texts));
        add(kind, [...units, ...units.flatMap((unit) => escapedTexts(unit, budget))], place);
      }
    },
    unreadable(place) {
      unjudgedAt ??= place;
    },
    takeDecoded(kind, content, place, role) {
      if (content === '' || (!judged.has(kind) && values.isWord(content))) return;
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
