import type { Bundle, BundlePolicy } from '#contracts/bundle';
import { isEnforced, rulesInOrder } from '#contracts/policy';
import { documentOverlap } from '#contracts/served-target';
import { decidingBytes } from '../rules/pattern/syntax/minimal-match.ts';
import { parsePattern } from '../rules/pattern/syntax/parse-pattern.ts';
import { shapeOf } from '../rules/pattern/syntax/pattern-shape.ts';
import type { PatternNode } from '../rules/pattern/syntax/pattern-tree.ts';
import { contains } from '../rules/unicode/rune-set.ts';
import { foldsOf, isLocal, type LocalRule } from './compile-local-rule.ts';
import { longestStemmedBytes, longestTermBytes } from './longest-term.ts';

/** Whether the request section of a policy can judge long texts in pieces, and the first rule that forbids it. */
type DivisionJudgement = { readonly policyId: string; readonly allowed: boolean; readonly rule?: string };

/** The smallest maxBodyBytes with which a piece is clearly longer than its overlap, even with every byte escaped. */
const leastBodyBytes = 8_192;
/** White space at which texts are divided: the same as that of RE2. */
const spaces = ['\t', '\n', '\f', '\r', ' '].map((character) => character.charCodeAt(0));

/**
 * Judges each policy for texts that are divided after white space into pieces with an overlap of 1,024 bytes
 * (docs/design/retrieval-guard.md). A deny rule needs one match that is decided within the overlap, so that some piece
 * contains the match. A mask rule needs this for every match, because the whole match is replaced. A match without
 * white space is never split, however long it is. Anchored rules depend on where a piece begins.
 */
export function judgeDivision(bundle: Bundle): readonly DivisionJudgement[] {
  return bundle.policies.map((policy) => judgePolicy(policy, bundle.limits.maxBodyBytes));
}

function judgePolicy({ id: policyId, request }: BundlePolicy, maxBodyBytes: number): DivisionJudgement {
  const forbidding = rulesInOrder(request).find((rule) => isEnforced(rule) && isLocal(rule) && needsWholeText(rule));
  if (forbidding !== undefined) return { policyId, allowed: false, rule: `the rule ${forbidding.id}` };
  if (maxBodyBytes >= leastBodyBytes) return { policyId, allowed: true };
  return { policyId, allowed: false, rule: `the limit maxBodyBytes (${maxBodyBytes}, below ${leastBodyBytes})` };
}

function needsWholeText(rule: LocalRule): boolean {
  // In a folded text, any number of bytes may be between two characters of a match.
  if (foldsOf(rule, 'request') !== undefined) return true;
  const { allow } = rule.kind === 'stop_list' ? rule.stopList : rule.regex;
  // A piece could begin inside of an allowed text.
  if (allow?.some((text) => /\s/.test(text))) return true;
  if (rule.kind === 'stop_list') {
    const { stem } = rule.stopList;
    return (
      (stem === undefined ? longestTermBytes(rule.stopList) : longestStemmedBytes(rule.stopList)) > documentOverlap
    );
  }
  const tree = parsePattern(rule.regex);
  if ('reason' in tree) return true;
  const { node } = tree;
  const shape = shapeOf(node);
  if (shape.anchored) return true;
  // The byte after a match may decide about it, as `\b` does.
  const isWhole = rule.action.type === 'mask' || rule.regex.checksum !== undefined || allow !== undefined;
  const bytes = isWhole ? shape.maxBytes + 1 : decidingBytes(node);
  return bytes > documentOverlap && canMatchSpace(node);
}

function canMatchSpace(node: PatternNode): boolean {
  switch (node.kind) {
    case 'empty':
    case 'assertion':
      return false;
    case 'any-byte':
      return true;
    case 'runes':
      return spaces.some((space) => contains(node.set, space));
    case 'concat':
    case 'either':
      return node.items.some(canMatchSpace);
    case 'repeat':
      return canMatchSpace(node.item);
  }
}
