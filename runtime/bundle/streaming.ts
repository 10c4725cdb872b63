import type { Bundle, BundlePolicy } from '#contracts/bundle';
import { responseSourceBytes } from '#contracts/folds';
import { limits } from '#contracts/limits';
import { isEnforced, rulesInOrder } from '#contracts/policy';
import { foldPattern } from '../rules/fold/fold-pattern.ts';
import type { FoldView } from '../rules/fold/fold-text.ts';
import { decidingBytes, decidingCharacters } from '../rules/pattern/syntax/minimal-match.ts';
import { parsePattern } from '../rules/pattern/syntax/parse-pattern.ts';
import { shapeOf } from '../rules/pattern/syntax/pattern-shape.ts';
import type { PatternNode } from '../rules/pattern/syntax/pattern-tree.ts';
import type { BundleWarning } from './bundle-error.ts';
import { foldsOf, isLocal, type LocalRule } from './compile-local-rule.ts';
import { longestStemmedBytes, longestTermBytes, longestTermCharacters } from './longest-term.ts';

/** The smallest maxBodyBytes that fits a window of 1,280 bytes with every byte escaped and its JSON around it. */
const streamingBodyBytes = 8_192;

type Regex = Extract<LocalRule, { kind: 'regex' }>['regex'];

/** The longest match in a folded text, in characters, that always fits into the bytes that windows share. */
const foldedCharacters = Math.floor(limits.overlapBytes / responseSourceBytes);

/** Whether the response section of a policy can be judged in windows, and the first rule that forbids it. */
type StreamingJudgement = {
  readonly policyId: string;
  readonly allowed: boolean;
  readonly rule?: string;
};

/**
 * Judges each policy for windows of 1,024 bytes with 256 before them (`gateway:stream:window-1024`,
 * `gateway:stream:overlap-256`). A match that contains no shorter match and is decided within 256 bytes is completely
 * inside of some window, and none of its bytes is sent before that window has passed. An enforced response rule that
 * can have a longer match, or that is anchored, can only be judged on the whole text: streams of its policy are refused
 * (`gateway:stream:whole-document-needs-stream-false`). An observe rule of that kind is a warning.
 */
export function judgeStreaming(bundle: Bundle): {
  readonly streaming: readonly StreamingJudgement[];
  readonly warnings: readonly BundleWarning[];
} {
  const warnings: BundleWarning[] = [];
  const streaming = bundle.policies.map((policy) => judgePolicy(policy, bundle.limits.maxBodyBytes, warnings));
  return { streaming, warnings };
}

function judgePolicy(policy: BundlePolicy, maxBodyBytes: number, warnings: BundleWarning[]): StreamingJudgement {
  let forbidding: string | undefined;
  for (const rule of rulesInOrder(policy.response)) {
    const reason = isLocal(rule) ? needsWholeText(rule) : undefined;
    if (reason === undefined) continue;
    if (isEnforced(rule)) forbidding ??= rule.id;
    const effect = isEnforced(rule)
      ? 'streamed answers cannot be checked and are refused'
      : 'it may judge a streamed answer differently from a whole one';
    warnings.push({ policyId: policy.id, stage: 'response', rule: rule.id, message: `${reason}, so ${effect}` });
  }
  if (maxBodyBytes < streamingBodyBytes) {
    const message = `maxBodyBytes ${maxBodyBytes} is below ${streamingBodyBytes}, so streamed answers are refused`;
    warnings.push({ policyId: policy.id, message });
  }
  if (forbidding !== undefined) return { policyId: policy.id, allowed: false, rule: forbidding };
  return { policyId: policy.id, allowed: maxBodyBytes >= streamingBodyBytes };
}

/** Why a match of the rule may not fit into a window; undefined if every match fits. */
function needsWholeText(rule: LocalRule): string | undefined {
  const view = foldsOf(rule, 'response');
  // A window could begin inside of an allowed text.
  if ((rule.kind === 'stop_list' ? rule.stopList : rule.regex).allow !== undefined)
    return 'it has an allow-list, which needs the text on both sides of a match';
  if (rule.kind === 'stop_list') {
    if (rule.stopList.stem !== undefined && longestStemmedBytes(rule.stopList) + 2 > limits.overlapBytes)
      return `a match of one of its terms in another form may have more than ${limits.overlapBytes} bytes`;
    if (longestTermBytes(rule.stopList) > limits.overlapBytes)
      return `it has a term of more than ${limits.overlapBytes} bytes`;
    return view !== undefined && longestTermCharacters(rule.stopList) > foldedCharacters
      ? `it has a term of more than ${foldedCharacters} characters, each of which may come from ${responseSourceBytes} bytes of text with its folds`
      : undefined;
  }
  const tree = parsePattern(rule.regex);
  if ('reason' in tree) return undefined;
  if (shapeOf(tree.node).anchored) return 'it is anchored to the beginning or end of the text';
  const bytes = bytesToDecide(rule.regex, tree.node, view);
  if (bytes <= limits.overlapBytes) return undefined;
  const most = Number.isFinite(bytes) ? `${bytes} bytes` : 'any number of bytes';
  return `it may need ${most} of text to find a match, more than the ${limits.overlapBytes} that windows share`;
}

/**
 * The number of bytes that decide a match. A match with a checksum must be seen completely, with its surrounding bytes:
 * a part of it has a different checksum.
 */
function bytesToDecide({ checksum }: Regex, node: PatternNode, view: FoldView | undefined): number {
  const searched = view === undefined ? node : foldPattern(node, view);
  if (checksum === undefined) {
    return view === undefined ? decidingBytes(node) : responseSourceBytes * decidingCharacters(searched);
  }
  const { maxBytes, maxCharacters } = shapeOf(searched);
  return view === undefined ? maxBytes + 2 : responseSourceBytes * (maxCharacters + 2);
}
