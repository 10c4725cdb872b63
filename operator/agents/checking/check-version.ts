import { loadTests } from '#flow/cases/load-tests';
import { runTest } from '#flow/cases/run-test';
import { loadManifest } from '#flow/loader/load-manifest';
import { loadVersionFlow } from '#flow/loader/load-version-flow';
import { versionSizeProblem } from '#flow/loader/version-size';
import { problemLine, type SourceProblem } from '#flow/source/problem';
import type { VersionJob, VersionVerdict } from './version-check.ts';

const modeNames = { a2a_agent: 'A2A', mcp_tool: 'MCP' } as const;

/**
 * Checks the size of the texts, then parses the flow, the manifest and the tests in this order, and runs the tests one
 * after another.
 */
export async function checkVersion(job: VersionJob): Promise<VersionVerdict> {
  const tooLarge = job.hasRun === true ? undefined : versionSizeProblem(job);
  if (tooLarge !== undefined) return refused('flow', [tooLarge]);
  const flow = loadVersionFlow(job.flow, job.subflows);
  if (!flow.ok) return refused('flow', flow.problems);
  const manifest = loadManifest(job.manifest, flow.flow);
  if (!manifest.ok) return refused('manifest', manifest.problems);
  const tests = loadTests(job.tests, flow.flow);
  if (!tests.ok) return refused('tests', tests.problems);
  const failed: string[] = [];
  for (const test of tests.tests) {
    const { problems } = await runTest(flow.flow, test);
    if (problems.length > 0) failed.push(test.name);
  }
  const { guardrails, requires, limits, executionModes } = manifest.manifest;
  const published = { guardrails, requires, limits, modes: executionModes.map((mode) => modeNames[mode]) };
  return { kind: 'loaded', published, tests: tests.tests.length, failed };
}

function refused(part: 'flow' | 'manifest' | 'tests', problems: readonly SourceProblem[]): VersionVerdict {
  const [first] = problems;
  if (first === undefined) throw new TypeError('the loader refused the source of a flow but reported no problem');
  return { kind: 'refused', part, problem: problemLine(`${part}.yaml`, first), count: problems.length };
}
