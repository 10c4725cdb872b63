import type { Bundle } from '#contracts/bundle';
import type { BundleProblem } from './bundle-error.ts';
import { type AskOf, compileSection } from './compile-section.ts';
import type { LoadedBundle, LoadedPolicy } from './loaded-bundle.ts';

/** Compiles and admits all policies of a bundle, or names everything that refuses it. */
export function compileBundle(
  { bundle, digest }: { readonly bundle: Bundle; readonly digest: string },
  askOf: AskOf,
): LoadedBundle | { readonly problems: readonly BundleProblem[] } {
  const problems: BundleProblem[] = [];
  const policies = new Map<string, LoadedPolicy>();
  for (const { id, revision, ...sections } of bundle.policies) {
    const request = compileSection({ policyId: id, stage: 'request' }, sections.request, askOf);
    const response = compileSection({ policyId: id, stage: 'response' }, sections.response, askOf);
    if ('problems' in request) problems.push(...request.problems);
    if ('problems' in response) problems.push(...response.problems);
    if (!('problems' in request) && !('problems' in response)) policies.set(id, { id, revision, request, response });
  }
  if (problems.length > 0) return { problems };
  return { digest, contentProfile: bundle.contentProfile, limits: bundle.limits, policies };
}
