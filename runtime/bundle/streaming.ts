import type { Bundle, BundlePolicy } from '#contracts/bundle';
import { limits } from '#contracts/limits';
import { isEnforced, rulesInOrder } from '#contracts/policy';
import { parsePattern } from '../rules/pattern/parse-pattern.ts';
import { shapeOf } from '../rules/pattern/pattern-shape.ts';
import { foldOrbit } from '../rules/pattern/unicode/case-fold.ts';
import type { BundleWarning } from './bundle-error.ts';
import { isLocal, type LocalRule } from './compile-local-rule.ts';

/** A masked or denied window must fit into a body with its JSON around it and every byte escaped (DESIGN section 8). */
export const streamingBodyBytes = 8_192;

/** Whether the response section of a policy can be judged in windows, and the first rule that forbids it. */
export type StreamingJudgement = {
  readonly policyId: string;
  readonly allowed: boolean;
  readonly rule?: string;
};

/** What matches of a rule are like, in bytes of UTF-8. */
type Reach = { readonly minBytes: number; readonly maxBytes: number; readonly anchored: boolean };

/**
 * Judges each policy for windows of 1,024 bytes with 256 before them (document 1, section 4.7; DESIGN section 8): an
 * enforced rule of the response section whose shortest match exceeds 256 bytes, or that is anchored, can only be judged
 * on the whole text. Rules that merely may be missed in a window are warnings.
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
    if (!isLocal(rule)) continue;
    const reach = reachOf(rule);
    const reason = forbids(reach);
    const warn = (message: string): void => {
      const place = { policyId: policy.id, stage: 'response', rule: rule.id } as const;
      warnings.push({ ...place, message });
    };
    if (reason !== undefined && isEnforced(rule)) {
      forbidding ??= rule.id;
      warn(`${reason}, so streamed answers cannot be checked and are refused`);
    } else if (reason !== undefined) {
      warn(`${reason}, so it may judge a streamed answer otherwise than a whole one`);
    } else if (reach.maxBytes > limits.overlapBytes) {
      warn(`it can match more than ${limits.overlapBytes} bytes, and such a match may be missed in a streamed answer`);
    }
  }
  if (maxBodyBytes < streamingBodyBytes) {
    const message = `maxBodyBytes ${maxBodyBytes} is below ${streamingBodyBytes}, so streamed answers are refused`;
    warnings.push({ policyId: policy.id, message });
  }
  if (forbidding !== undefined) return { policyId: policy.id, allowed: false, rule: forbidding };
  return { policyId: policy.id, allowed: maxBodyBytes >= streamingBodyBytes };
}

/** Why windows cannot show what the rule looks for, if so. */
function forbids(reach: Reach): string | undefined {
  if (reach.anchored) return 'it is anchored to the begin or end of the text';
  if (reach.minBytes > limits.overlapBytes) return `it matches nothing shorter than ${limits.overlapBytes + 1} bytes`;
  return undefined;
}

function reachOf(rule: LocalRule): Reach {
  if (rule.kind === 'regex') {
    const tree = parsePattern(rule.regex);
    if ('reason' in tree) return { minBytes: 0, maxBytes: 0, anchored: false };
    return shapeOf(tree.node);
  }
  const { terms, caseSensitive } = rule.stopList;
  let minBytes = Number.POSITIVE_INFINITY;
  let maxBytes = 0;
  for (const term of terms) {
    const reach = termReach(term, caseSensitive);
    minBytes = Math.min(minBytes, reach.minBytes);
    maxBytes = Math.max(maxBytes, reach.maxBytes);
  }
  return { minBytes, maxBytes, anchored: false };
}

/** Case folding can change the length of a character: `k` is one byte, the Kelvin sign that equals it is three. */
function termReach(term: string, caseSensitive: boolean): { readonly minBytes: number; readonly maxBytes: number } {
  const bytes = Buffer.byteLength(term, 'utf8');
  if (caseSensitive || bytes * 3 <= limits.overlapBytes) return { minBytes: bytes, maxBytes: bytes };
  let minBytes = 0;
  let maxBytes = 0;
  for (const character of term) {
    const lengths = foldOrbit(character.codePointAt(0) ?? 0).map((rune) =>
      Buffer.byteLength(String.fromCodePoint(rune), 'utf8'),
    );
    minBytes += Math.min(...lengths);
    maxBytes += Math.max(...lengths);
  }
  return { minBytes, maxBytes };
}
