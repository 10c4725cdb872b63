import type { JudgedTextKind } from '#contracts/judged-texts';
import type { JsonNode } from '#kit/json/parse-tree';
import type { CheckUnit } from '../chat/check-unit.ts';
import { collectNested, collectTexts, newBudget, withoutRepetitions } from './collect-texts.ts';

/**
 * Texts in addition to those of the contract: the texts to judge, and the place of the first text that cannot be
 * judged.
 */
export type Covered = { readonly units: readonly CheckUnit[]; readonly unjudgedAt: string | undefined };

/** Sorts the texts of a body by their kind. `place` is a path of known names, for an error message. */
export type TextCollector = {
  /** All texts of a value, and its numbers: all where `numbers` is true and the kind is judged, otherwise the long ones. */
  take(kind: JudgedTextKind, node: JsonNode | undefined, place: string, role: string, numbers: true | 'long'): void;
  /** A string that holds JSON. */
  takeNested(kind: JudgedTextKind, node: JsonNode & { readonly kind: 'string' }, place: string, role: string): void;
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
  const add = (kind: JudgedTextKind, found: readonly CheckUnit[], place: string): void => {
    if (found.length === 0) return;
    if (!judged.has(kind)) unjudgedAt ??= place;
    else for (const unit of found) units.push(unit);
  };
  return {
    take(kind, node, place, role, numbers) {
      if (node === undefined) return;
      // Single lower-case words are values of the API, such as "auto"; a check sees them only where their kind is
      // judged.
      if (!judged.has(kind) && node.kind === 'string' && isApiWord(node.value)) return;
      add(kind, collectTexts(node, bytes, { role, numbers: judged.has(kind) ? numbers : 'long' }), place);
    },
    takeNested(kind, node, place, role) {
      add(kind, collectNested(node, { role, numbers: true }, budget), place);
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

const apiWord = /^[a-z_]{1,24}$/;

/** Whether a text is a single word in lower case, as the values of the API are: "auto", "low", "reasoning_details". */
export function isApiWord(text: string): boolean {
  return apiWord.test(text);
}
