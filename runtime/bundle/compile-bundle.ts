import type { Bundle } from '#contracts/bundle';
import { type Matching, preparedMatching } from '../rules/pattern/search/matching.ts';
import type { BundleProblem, BundleWarning } from './bundle-error.ts';
import { type AskOf, compileSection } from './compile-section.ts';
import type { LoadedBundle, LoadedPolicy } from './loaded-bundle.ts';

export type Compilation =
  | { readonly ok: true; readonly loaded: LoadedBundle; readonly warnings: readonly BundleWarning[] }
  | { readonly ok: false; readonly problems: readonly BundleProblem[] };

/** Compiles and admits all policies of a bundle, or returns every reason for its refusal. */
export function compileBundle(
  { bundle, digest }: { readonly bundle: Bundle; readonly digest: string },
  askOf: AskOf,
  matching: Matching = preparedMatching,
): Compilation {
  const problems = credentialsInEndpoints(bundle);
  const warnings: BundleWarning[] = [];
  const policies = new Map<string, LoadedPolicy>();
  const options = { limits: bundle.limits, askOf, matching };
  for (const { id, revision, ...sections } of bundle.policies) {
    const request = compileSection({ policyId: id, stage: 'request' }, sections.request, options);
    const response = compileSection({ policyId: id, stage: 'response' }, sections.response, options);
    for (const section of [request, response]) {
      if (section.ok) warnings.push(...section.warnings);
      else problems.push(...section.problems);
    }
    if (request.ok && response.ok)
      policies.set(id, { id, revision, request: request.section, response: response.section });
  }
  if (problems.length > 0) return { ok: false, problems };
  const { contentProfile, limits } = bundle;
  return { ok: true, loaded: { digest, contentProfile, limits, policies }, warnings };
}

/** A bundle never holds a secret, so an endpoint with a user name or password is refused. */
function credentialsInEndpoints(bundle: Bundle): BundleProblem[] {
  return bundle.providers.flatMap(({ name, endpoint }): BundleProblem[] => {
    const { username, password } = new URL(endpoint);
    const message = `provider ${name}: the endpoint must not hold a user name or password`;
    return username === '' && password === '' ? [] : [{ code: 'bundle_invalid', message }];
  });
}
