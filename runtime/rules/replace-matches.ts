import type { CheckedText } from './checked-text.ts';
import type { CompiledRule } from './compiled-section.ts';
import { type Failed, failed, type Masked } from './decision.ts';
import { maskText } from './mask-text.ts';
import { applyMasks, mergeMasks, type Replacement } from './merge-masks.ts';

type Place = { readonly place: number; readonly text: number };

/** Replacements per message, collected from all mask rules that fired. */
type Collection = {
  readonly byText: Map<number, Replacement[]>;
  /** Ids of the rules that replace text, in the order in which they ran, and their replacement texts. */
  readonly rules: Set<string>;
  readonly inserted: Set<string>;
  /** The number of matches that are still allowed; one more match fails the check with match_limit. */
  left: number;
};

/** `maxMatches` counts the matches of all rules in all messages of a check (`guardrail:limits:max-matches-edge`, decision 0015). */
export function startCollection(maxMatches: number): Collection {
  return { byText: new Map(), rules: new Set(), inserted: new Set(), left: maxMatches };
}

/**
 * Adds all matches of one rule in one message. The check fails when a match exceeds the limit or cannot be found again;
 * matches are never added in part. Throws when the engine fails.
 */
export function collectMatches(
  collection: Collection,
  rule: CompiledRule,
  { text }: Place,
  checked: CheckedText,
): Failed | undefined {
  if (rule.effect.kind !== 'mask')
    throw new TypeError('matches to replace were collected for a rule that is not a mask rule');
  const { find } = rule.effect;
  const spans = find(checked, collection.left + 1);
  if (spans.length === 0) return failed('engine_failure', rule.id);
  if (spans.length > collection.left) return failed('match_limit', rule.id);
  collection.left -= spans.length;
  const replacements = collection.byText.get(text) ?? [];
  for (const { start, end } of spans) {
    const written = maskText(rule.effect.text, () => checked.bytes.toString('utf8', start, end));
    replacements.push({ start, end, text: written });
    collection.inserted.add(written);
  }
  collection.byText.set(text, replacements);
  collection.rules.add(rule.id);
  return undefined;
}

/** The contents of all messages after the mask; messages without a match keep theirs. */
export function replaceMatches(
  collection: Collection,
  contents: readonly string[],
  bytes: readonly Buffer[],
): Masked | Failed {
  const masked = [...contents];
  for (const [text, replacements] of collection.byText) {
    const merged = mergeMasks(replacements);
    if (!merged.ok) return failed(merged.code);
    const content = contents[text];
    const original = bytes[text];
    if (content === undefined || original === undefined)
      throw new RangeError('a match names a message that the check does not contain');
    masked[text] = applyMasks(content, original, merged.replacements);
  }
  return { kind: 'mask', contents: masked, rules: [...collection.rules], inserted: [...collection.inserted] };
}
