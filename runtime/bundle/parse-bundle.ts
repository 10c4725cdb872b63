import { type Bundle, bundleSchema } from '#contracts/bundle';
import { canonicalBytes, sha256Hex } from '#contracts/canonical';
import { limits } from '#contracts/limits';
import { fieldPath, readShape } from '#contracts/read-shape';
import { JsonError, type JsonValue, parseStrict } from '#kit/json/parse-strict';
import type { BundleProblem } from './bundle-error.ts';

/** A bundle of the right shape with its canonical form and the digest of that form, 64 lower-case hex characters. */
export type ParsedBundle = { readonly bundle: Bundle; readonly canonical: Buffer; readonly digest: string };

type BundleReading =
  | ({ readonly ok: true } & ParsedBundle)
  | {
      readonly ok: false;
      readonly problems: readonly BundleProblem[];
      /** The digest of the bundle; present if the bytes have a canonical form, even if the bundle is invalid. */
      readonly digest?: string;
    };

/**
 * Reads a bundle (`bundle:file:*`): strict JSON, at most 716,800 bytes before and after canonical form, of
 * exactly the schema of bundle/v1. Any equivalent JSON is the same bundle with the same digest.
 */
export function parseBundle(bytes: Uint8Array): BundleReading {
  if (bytes.length > limits.bundleBytes) {
    return refused(`the bundle is larger than ${limits.bundleBytes} bytes`);
  }
  let value: JsonValue;
  try {
    value = parseStrict(bytes);
  } catch (error) {
    if (error instanceof JsonError)
      return refused(`the bundle is not strict JSON: ${error.fault} at byte ${error.offset}`);
    throw error;
  }
  const canonical = canonicalBytes(value);
  const digest = sha256Hex(canonical);
  if (canonical.length > limits.bundleBytes) {
    return { ...refused(`the canonical form of the bundle is larger than ${limits.bundleBytes} bytes`), digest };
  }
  const read = readShape(bundleSchema, value);
  if (read.ok) return { ok: true, bundle: read.value, canonical, digest };
  const problems = read.problems.map(({ path, message }): BundleProblem => {
    const place = placeOf(value, path);
    const field = fieldPath(path.slice(named(place)));
    return { code: 'bundle_invalid', message: field === '' ? message : `${field} ${message}`, ...place };
  });
  return { ok: false, problems, digest };
}

function refused(message: string): { readonly ok: false; readonly problems: readonly BundleProblem[] } {
  return { ok: false, problems: [{ code: 'bundle_invalid', message }] };
}

/** How many leading members of a path name the policy, the stage and the rule. */
function named({ policyId, stage, rule }: ReturnType<typeof placeOf>): number {
  if (rule !== undefined && stage !== undefined && policyId !== undefined) return 5;
  if (policyId === undefined) return 0;
  return stage === undefined ? 2 : 3;
}

/** Policy, stage and rule that a path of the schema contains, if the value names them. */
function placeOf(value: JsonValue, path: readonly PropertyKey[]): Pick<BundleProblem, 'policyId' | 'stage' | 'rule'> {
  const [root, index, stage, list, position] = path;
  if (root !== 'policies') return {};
  const policy = step(step(value, 'policies'), index);
  const policyId = step(policy, 'id');
  const inStage = stage === 'request' || stage === 'response' ? stage : undefined;
  const rule = inStage === undefined ? undefined : step(step(step(step(policy, inStage), list), position), 'id');
  return {
    ...(typeof policyId === 'string' ? { policyId } : {}),
    ...(inStage === undefined ? {} : { stage: inStage }),
    ...(typeof rule === 'string' ? { rule } : {}),
  };
}

function step(value: JsonValue | undefined, key: PropertyKey | undefined): JsonValue | undefined {
  if (typeof value !== 'object' || value === null || typeof key === 'symbol' || key === undefined) return undefined;
  if (Array.isArray(value)) return typeof key === 'number' ? value[key] : undefined;
  return Object.hasOwn(value, key) ? value[key] : undefined;
}
