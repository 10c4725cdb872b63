import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Platform, startPlatform } from '../e2e/support/start-platform.ts';
import { runInProcess } from './testing/run-cli.ts';
import { keys, missingTerminal, runOnTerminal } from './testing/run-on-terminal.ts';

const question = 'Continue? [y/N] ';

describe.skipIf(missingTerminal !== undefined)('questions on a terminal', () => {
  let platform: Platform;
  beforeAll(async () => {
    platform = await startPlatform();
  });
  afterAll(() => platform?.[Symbol.asyncDispose]());

  const bindingNow = async () => {
    const { stdout } = await runInProcess(['get', 'mb', 'guarded-echo', '-o', 'json'], { data: platform.data });
    return JSON.parse(stdout);
  };
  const unbind = (answer: string) =>
    runOnTerminal(['unbind', 'guarded-echo'], { data: platform.data, typed: [{ after: question, text: answer }] });

  test.each([
    ['Ctrl-C', keys.ctrlC],
    ['Ctrl-D', keys.ctrlD],
    ['n', 'n\r'],
    ['an empty line', '\r'],
  ])('a command whose question is answered with %s changes nothing and ends with not_confirmed', async (_, answer) => {
    const before = await bindingNow();
    const { code, shown } = await unbind(answer);
    expect(shown).toContain('ModelBinding guarded-echo would become UNGUARDED');
    expect(shown).toMatch(/\nportcullis: Nothing was changed\.\n$/);
    expect(code).toBe(13);
    expect((await bindingNow()).spec).toEqual(before.spec);
  });

  test('apply -f - whose file is typed on the terminal cannot ask for a confirmation and requires --yes', async () => {
    const { apiVersion, kind, metadata, spec } = await bindingNow();
    const wanted = {
      apiVersion,
      kind,
      metadata: { name: metadata.name },
      spec: { ...spec, guardrail: { mode: 'None' } },
    };
    const lines = `${JSON.stringify(wanted, undefined, 1)}\n`;
    const { code, shown } = await runOnTerminal(['apply', '-f', '-'], {
      data: platform.data,
      typed: [{ text: `${lines}${keys.ctrlD}` }],
    });
    expect(shown).toContain('To confirm the change, repeat the command with --yes.');
    expect(shown).not.toContain(question);
    expect(code).toBe(13);
    expect((await bindingNow()).spec).toEqual(spec);
  });

  test('a command whose question is answered with y is carried out', async () => {
    const { code, shown } = await unbind('y\r');
    expect(shown).toContain('ModelBinding guarded-echo set to UNGUARDED\n');
    expect(code).toBe(0);
    expect((await bindingNow()).spec.guardrail).toEqual({ mode: 'None' });
  });
});
