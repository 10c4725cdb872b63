import { readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startFollowed } from '#kit/testing/start-followed';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { root } from '../../hack/check/run-tool.ts';
import { preparePython } from '../support/python.ts';
import { startScriptedUpstream } from '../support/scripted-upstream.ts';
import { connectOwnModel, ownModelCommands } from './own-model.ts';
import { isPrinted, readBlocks, readCommands } from './read-blocks.ts';
import { type InteractiveShell, openShell } from './shell.ts';

const text = readFileSync(join(root, 'README.md'), 'utf8');
const blocks = readBlocks(text);
const consoles = blocks.filter(({ label }) => label.startsWith('console'));

describe('the commands of README.md print the documented output', () => {
  const stack = new AsyncDisposableStack();
  let shell: InteractiveShell;
  let data: string;

  beforeAll(async () => {
    data = join(stack.use(temporaryFolder()).path, 'data');
    const environment = { ...process.env, PORTCULLIS_DATA_DIR: data, PORTCULLIS_PORT: '0' };
    const [start] = blocks.filter(({ label }) => label === 'sh').map((block) => block.text);
    expect(start).toBe('npm start');
    // The sections about documents, memories and agents add these options.
    const platform = startFollowed(['npm', 'start', '--', '--retrieval', '--memory', '--agents'], {
      cwd: root,
      env: environment,
    });
    stack.defer(async () => {
      expect(await platform.end('SIGINT')).toBe(0);
    });
    await until('npm start is ready', () => platform.output().includes('Ctrl-C stops everything.'));
    shell = stack.use(openShell(root, environment));
  });
  afterAll(() => stack.disposeAsync());

  const commands = consoles.filter(({ label }) => label === 'console').flatMap(readCommands);
  test.each(commands)('README.md line $line: $command', async ({ command, output }) => {
    const given = await shell.type(command);
    expect(isPrinted(output, given), `printed:\n${output}\ngiven:\n${given}`).toBe(true);
  });

  test('the Python commands of README.md print the documented output', async (context) => {
    const python = await preparePython(join(root, 'e2e/scenarios/openai-clients/requirements.txt'));
    if (!python.ok) return context.skip(python.reason);
    await shell.type(`PATH="${dirname(python.path)}:$PATH"`);
    for (const { command, output } of consoles
      .filter(({ label }) => label === 'console python')
      .flatMap(readCommands)) {
      const given = await shell.type(command);
      expect(isPrinted(output, given), `${command}\nprinted:\n${output}\ngiven:\n${given}`).toBe(true);
    }
  });

  test('the commands of README.md for an own model guard it without a restart of the platform', async () => {
    const upstream = stack.use(await startScriptedUpstream({ kind: 'answer', content: 'A gate that falls.' }));
    connectOwnModel(data, text, `${upstream.url}/v1`);
    const commands = ownModelCommands(text, 'small');
    expect(commands.length).toBeGreaterThan(2);
    for (const { command, output } of commands) {
      const given = await shell.type(command);
      expect(isPrinted(output, given), `${command}\nprinted:\n${output}\ngiven:\n${given}`).toBe(true);
    }
    expect(upstream.seen).toHaveLength(1);
  });
});

describe('README.md', () => {
  test('README.md has more than 15 tested commands', () => {
    const commands = consoles.flatMap(readCommands);
    expect(commands.length).toBeGreaterThan(15);
    expect(commands.every(({ command }) => command.trim() !== '')).toBe(true);
  });

  test('README.md links to existing files', () => {
    const links = [...text.matchAll(/\]\((?!https?:)([^)#]+)\)/g)].map((match) => match[1] ?? '');
    expect(links.length).toBeGreaterThan(5);
    const missing = links.filter((link) => statSync(resolve(root, link), { throwIfNoEntry: false }) === undefined);
    expect(missing).toEqual([]);
  });

  test('the comparison of README.md detects an output that differs from the documented one', () => {
    expect(isPrinted('a … c', 'a b c')).toBe(true);
    expect(isPrinted('a … c', 'a b d')).toBe(false);
    expect(isPrinted('a', 'a\nb')).toBe(false);
    expect(isPrinted('…', 'a\nb')).toBe(false);
  });
});
