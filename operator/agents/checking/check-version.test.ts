import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import type { AgentVersion } from '#resources/agent-version';
import { agentVersionSchema } from '#resources/agent-version';

import { manifestDifferences } from '../manifest-differences.ts';
import { lowCodeOf } from '../testing/low-code-of.ts';
import { createVersionChecks } from '../version-checks.ts';
import { checkVersion } from './check-version.ts';

const folder = join(import.meta.dirname, '..', '..', '..', 'examples', 'agents', 'handbook');
const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
const example = parse(read('agentversion.yaml')) as AgentVersion;
const lowCode = lowCodeOf(example.spec);
const signal = new AbortController().signal;

test('the example of an AgentVersion contains the files of its folder, is valid, and agrees with its manifest', async () => {
  const { spec } = agentVersionSchema.parse(example);
  const { flow, manifest, tests } = lowCodeOf(spec);
  expect([flow, manifest, tests]).toEqual([read('flow.yaml'), read('manifest.yaml'), read('tests.yaml')]);
  const verdict = await checkVersion(lowCodeOf(spec));
  if (verdict.kind !== 'loaded') throw new Error(verdict.problem);
  expect(verdict).toMatchObject({ tests: 4, failed: [], published: { modes: ['A2A', 'MCP'] } });
  expect(manifestDifferences(spec, verdict.published)).toEqual([]);
});

test('the child process of a version check returns the same verdict as the function', async () => {
  const broken = { ...lowCode, flow: `${lowCode.flow}\nmore: true\n` };
  for (const job of [lowCode, broken]) {
    expect(await createVersionChecks().check(job, signal)).toEqual(await checkVersion(job));
  }
});

test('a version that requests a mode which no version offers is refused with the code and the line', async () => {
  const manifest = lowCode.manifest.replace('mcp_tool]', 'mcp_tool, grpc_agent]');
  const verdict = await checkVersion({ ...lowCode, manifest });
  if (verdict.kind !== 'refused') throw new Error('the version is accepted');
  expect(verdict).toMatchObject({ part: 'manifest', count: 1 });
  expect(verdict.problem).toMatch(
    /^manifest\.yaml:\d+:\d+: executionModes\[2\] .*: advertised_capability_unavailable$/,
  );
});

test('a version check that exceeds its timeout is late, and its child process is killed', async () => {
  expect(await createVersionChecks({ timeoutMs: 1 }).check(lowCode, signal)).toEqual({ kind: 'late' });
});

test('a version check that exceeds its memory is late, and one whose memory is enough is not', async () => {
  expect(await createVersionChecks({ heapMib: 8 }).check(lowCode, signal)).toEqual({ kind: 'late' });
  expect(await createVersionChecks({ heapMib: 96 }).check(lowCode, signal)).toMatchObject({ kind: 'loaded' });
});
