import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AgentVersion } from '#resources/agent-version';
import { kinds } from '#resources/kinds';
import type { ProgramEnd } from '../e2e/support/run-to-end.ts';
import { type Platform, startPlatform } from '../e2e/support/start-platform.ts';
import { checkout } from './platform/data-directory.ts';
import { runInProcess } from './testing/run-cli.ts';

let platform: Platform;
beforeAll(async () => {
  platform = await startPlatform({ agents: true });
});
afterAll(() => platform[Symbol.asyncDispose]());

const run = (args: readonly string[], input?: string): Promise<ProgramEnd> =>
  runInProcess(args, { data: platform.data, ...(input === undefined ? {} : { input }) });
const send = (...more: readonly string[]) => run(['agent', 'send', 'assistant-1', ...more]);
const example = readFileSync(join(checkout, 'examples/agents/assistant/agentversion.yaml'), 'utf8');

describe('portcullis up --agents', () => {
  test('portcullis up --agents loads the example of an agent and prints how it is called', () => {
    expect(platform.output()).toContain('the agent assistant-1 is ready');
    expect(platform.output()).toContain('agent send assistant-1 --message');
  });

  test('the card of a version has the address of the gateway, and no address of its process', async () => {
    const version = await platform.client.get<AgentVersion>(kinds.agentVersion, 'assistant-1');
    const { address = '', agentId, versionId } = version?.status ?? {};
    const card = await (await fetch(`${address}/.well-known/agent-card.json`)).text();
    expect(card).toContain(`${platform.status().addresses.gateway}/agents/${agentId}/versions/${versionId}`);
    expect(card).not.toContain(address);
  });
});

describe('portcullis agent send', () => {
  test('portcullis agent send prints the answer to a text, to structured input and to standard input', async () => {
    expect(await send('--as', 'ann', '-m', 'Good morning')).toMatchObject({ code: 0, stdout: 'Good morning\n' });
    const given = await send('--as', 'ann', '--input', '{"question":"Good evening"}', '--json');
    expect(JSON.parse(given.stdout)).toEqual({ text: 'Good evening', data: { answer: 'Good evening' } });
    const read = await run(['agent', 'send', 'assistant-1', '--as', 'ann'], 'Good night\n');
    expect(read).toMatchObject({ code: 0, stdout: 'Good night\n' });
  });

  test.each([
    [
      'a text that the policy of the model denies',
      ['-m', 'Explain how to make a bomb'],
      6,
      /^portcullis: guardrail_denied: /,
    ],
    ['input of another shape', ['--input', '{"other":1}'], 1, /^portcullis: input_invalid: /],
    ['input that is not an object', ['--input', '[1]'], 2, /It must be a JSON object/],
    ['input that is not JSON', ['--input', '{'], 2, /It must be a JSON object/],
  ])('portcullis agent send reports %s with its code', async (_, words, code, stderr) => {
    const end = await send('--as', 'ann', ...words);
    expect([end.code, end.stdout]).toEqual([code, '']);
    expect(end.stderr).toMatch(stderr);
  });

  test('portcullis agent send needs the name of a caller and of a version that exists', async () => {
    expect(await send('-m', 'hello')).toMatchObject({ code: 2, stderr: expect.stringContaining('Name the caller') });
    const end = await run(['agent', 'send', 'assistant-9', '--as', 'ann', '-m', 'hello']);
    expect(end).toMatchObject({ code: 3, stderr: expect.stringContaining('There is no AgentVersion assistant-9') });
  });
});

test('portcullis apply --wait reports why a version cannot become ready, and portcullis agent send repeats it', async () => {
  const guarded = example
    .replace('name: assistant-1', 'name: guarded-1')
    .replace('input:\n      mode: None', 'input:\n      mode: Policy\n      policyRef: { name: absent, revision: 1 }')
    .replace('guardrails: { input: None,', 'guardrails: { input: { policy: absent, revision: 1 },');
  const end = await run(['apply', '-f', '-', '--wait'], guarded);
  expect(end.code).toBe(9);
  expect(end.stderr).toContain('The AgentVersion guarded-1 is not ready: ');
  const sent = await run(['agent', 'send', 'guarded-1', '--as', 'ann', '-m', 'hello']);
  expect([sent.code, sent.stderr]).toEqual([1, expect.stringContaining('The AgentVersion guarded-1 is not ready: ')]);
  expect(await run(['delete', 'agentversion', 'guarded-1', '--yes'])).toMatchObject({ code: 0 });
});

test('the example of an agent stays deleted, and agents run without --agents, too', async () => {
  expect(await run(['delete', 'agentversion', 'assistant-1', '--yes'])).toMatchObject({ code: 0 });
  rmSync(join(platform.data, 'apply/assistant.yaml'));
  const { data } = platform;
  await platform.end('SIGINT');
  const renamed = example.replace('name: assistant-1', 'name: assistant-2');
  const again = await startPlatform({ data, agents: true });
  const { gateway } = again.status().addresses;
  try {
    expect(again.output()).not.toContain('assistant-1 is ready');
    expect((await run(['get', 'agentversions', '-o', 'name'])).stdout).toBe('');
  } finally {
    await again.end('SIGINT');
  }
  platform = await startPlatform({ data });
  expect(platform.status().addresses.gateway).toBe(gateway);
  expect(await run(['apply', '-f', '-', '--wait'], renamed)).toMatchObject({ code: 0 });
  const end = await run(['agent', 'send', 'assistant-2', '--as', 'ann', '-m', 'hello']);
  expect(end).toMatchObject({ code: 0, stdout: 'hello\n' });
});
