import { type Bundle, bundleSchemaName, defaultBundleLimits } from '#contracts/bundle';
import type { Definition, Section } from '#contracts/policy';
import { currentProfile } from '#contracts/profiles';

/** Texts that the sample policies deny and mask; no other text contains them. */
export const deniedTerm = 'forbidden-portal';
export const maskedTerm = 'private-harbour';
export const deniedLines = 'forbidden line\nand the next';
export const replacement = '[cleaned]';

function stopList(id: string, terms: string[], action: 'deny' | 'mask') {
  return {
    id,
    kind: 'stop_list' as const,
    timeoutMs: 100,
    action: action === 'deny' ? { type: 'deny' as const } : { type: 'mask' as const, replacement },
    stopList: { terms, match: 'substring' as const, caseSensitive: true },
  };
}

function section(deadlineMs: number): Section {
  return {
    deadlineMs,
    baseline: [stopList('denied', [deniedTerm, deniedLines], 'deny'), stopList('masked', [maskedTerm], 'mask')],
    additional: [],
  };
}

/** A definition that denies one word and two lines, and masks another word, in both directions. */
export function sampleDefinition(deadlineMs = 1_000): Definition {
  return { request: section(deadlineMs), response: section(deadlineMs), providers: [] };
}

/** A bundle with one policy. */
export function sampleBundle(definition: Definition = sampleDefinition(), id = 'sample', revision = '1'): Bundle {
  return {
    schema: bundleSchemaName,
    contentProfile: currentProfile,
    limits: defaultBundleLimits,
    policies: [{ id, revision, request: definition.request, response: definition.response }],
    providers: [],
  };
}
