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

test('a version whose texts together exceed the size of one stored object is refused, and one at the limit is accepted', async () => {
  const most = 983_040;
  const padded = (bytes: number) => {
    const comment = `${'\n'.repeat(20_000)}# `;
    const flow = `${lowCode.flow}\n${comment}`;
    const manifest = `${lowCode.manifest}\n${'#"'.repeat(100_000)}`;
    const tests = `${lowCode.tests}\n${'#"'.repeat(100_000)}`;
    const used = Buffer.byteLength(JSON.stringify({ flow, manifest, tests, subflows: [] }));
    return {
      ...lowCode,
      flow: `${flow}${'\t'.repeat((bytes - used) >> 1)}${'x'.repeat((bytes - used) % 2)}`,
      manifest,
      tests,
    };
  };
  const large = await checkVersion(padded(most + 1));
  expect(large).toMatchObject({ kind: 'refused', part: 'flow', count: 1 });
  expect(large.kind === 'refused' && large.problem).toBe(
    `flow.yaml:1:1: the file has ${most + 1} bytes as JSON with the other texts of the version, at most ${most} are allowed: shorten one of them`,
  );
  expect(await checkVersion(padded(most))).toMatchObject({ kind: 'loaded', failed: [] });
  const running = { ...padded(most + 1), hasRun: true };
  expect(await checkVersion(running)).toMatchObject({ kind: 'loaded', failed: [] });
  expect(await createVersionChecks().check(running, signal)).toMatchObject({ kind: 'loaded' });
});

test('a version check that finds no free slot returns immediately without a verdict, and a later check gets a slot when another has ended', async () => {
  const checks = createVersionChecks();
  const running = [checks.check(lowCode, signal), checks.check(lowCode, signal)];
  expect(await checks.check(lowCode, signal)).toBeUndefined();
  expect(await Promise.all(running)).toMatchObject([{ kind: 'loaded' }, { kind: 'loaded' }]);
  expect(await checks.check(lowCode, signal)).toMatchObject({ kind: 'loaded' });
});

test('a version check that exceeds its timeout is late, and its child process is killed', async () => {
  expect(await createVersionChecks({ timeoutMs: 1 }).check(lowCode, signal)).toEqual({ kind: 'late' });
});

test('a version check that exceeds its memory is late, and a check whose memory is enough is not late', async () => {
  expect(await createVersionChecks({ heapMib: 8 }).check(lowCode, signal)).toEqual({ kind: 'late' });
  expect(await createVersionChecks({ heapMib: 96 }).check(lowCode, signal)).toMatchObject({ kind: 'loaded' });
});
