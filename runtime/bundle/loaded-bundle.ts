import type { BundleLimits } from '#contracts/bundle';
import type { ContentProfile } from '#contracts/profiles';
import type { CompiledSection } from '../rules/compiled-section.ts';

/** A policy of a bundle, ready to run. */
export type LoadedPolicy = {
  readonly id: string;
  readonly revision: string;
  readonly request: CompiledSection;
  readonly response: CompiledSection;
};

/** The bundle that a runtime serves for its whole life (`guardrail:generation:no-hot-reload`); immutable. */
export type LoadedBundle = {
  /** SHA-256 of the canonical bundle: 64 lower-case hexadecimal characters. */
  readonly digest: string;
  readonly contentProfile: ContentProfile;
  readonly limits: BundleLimits;
  readonly policies: ReadonlyMap<string, LoadedPolicy>;
};
