import { type Bundle, bundleSchemaName } from '#contracts/bundle';
import { regexEngine } from '#contracts/local-rules';
import type { BaselineRule, Section } from '#contracts/policy';
import { currentProfile } from '#contracts/profiles';

export const token = 'service-token-of-the-fuzzer';
export const fuzzPolicy = { id: 'fuzz', revision: '7' } as const;
/** The limits are small, so that requests on both sides of each limit are frequent. */
export const fuzzLimits = {
  maxBodyBytes: 2_048,
  maxMessages: 8,
  maxMatches: 8,
  maxConcurrency: 256,
  queueSize: 0,
} as const;

/** A term that is denied anywhere in a text. */
export const deniedSubstring = 'forbidden-portal';
/** A term that is denied only between characters that are neither letters nor digits. */
export const deniedWord = 'тайна';
/** A term whose replacement is longer, so that an answer can exceed the limit. */
export const maskedSubstring = { term: 'harbour', replacement: '[a place that is not to be named here]' } as const;
export const number = { pattern: '[0-9]{4}-[0-9]{4}', replacement: '#' } as const;

const deny = { type: 'deny' } as const;
const timeoutMs = 5_000;

const rules: readonly BaselineRule[] = [
  {
    id: 'denied',
    kind: 'stop_list',
    timeoutMs,
    action: deny,
    stopList: { terms: [deniedSubstring], match: 'substring', caseSensitive: true },
  },
  {
    id: 'denied-word',
    kind: 'stop_list',
    timeoutMs,
    action: deny,
    stopList: { terms: [deniedWord], match: 'token', caseSensitive: true },
  },
  {
    id: 'masked',
    kind: 'stop_list',
    timeoutMs,
    action: { type: 'mask', replacement: maskedSubstring.replacement },
    stopList: { terms: [maskedSubstring.term], match: 'substring', caseSensitive: true },
  },
  {
    id: 'number',
    kind: 'regex',
    timeoutMs,
    action: { type: 'mask', replacement: number.replacement },
    regex: { engine: regexEngine, pattern: number.pattern, caseSensitive: true },
  },
];

/** A bundle with one policy whose decisions a few lines of JavaScript can predict. */
export function fuzzBundle(): Bundle {
  const section: Section = { deadlineMs: 5_000, baseline: [...rules], additional: [] };
  return {
    schema: bundleSchemaName,
    contentProfile: currentProfile,
    limits: fuzzLimits,
    policies: [{ ...fuzzPolicy, request: section, response: section }],
    providers: [],
  };
}
