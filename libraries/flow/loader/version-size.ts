import { flowLimits } from '#contracts/flow-limits';
import type { SourceProblem } from '../source/problem.ts';

/** The texts of a version. */
type VersionTexts = {
  readonly flow: string;
  readonly manifest: string;
  readonly tests: string;
  readonly subflows?: readonly string[] | undefined;
};

/**
 * The problem that the texts of a version are together too large for the object that holds them in a cluster, although
 * each is within its limit.
 */
export function versionSizeProblem({ flow, manifest, tests, subflows = [] }: VersionTexts): SourceProblem | undefined {
  const bytes = Buffer.byteLength(JSON.stringify({ flow, manifest, tests, subflows }));
  const most = flowLimits.versionBytes;
  if (bytes <= most) return undefined;
  const message = `has ${bytes} bytes as JSON with the other texts of the version, at most ${most} are allowed: shorten one of them`;
  return { code: 'too_large', line: 1, column: 1, path: '', message };
}
