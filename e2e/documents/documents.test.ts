import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { root } from '../../hack/check/run-tool.ts';
import { isPrinted, readBlocks, readCommands } from '../readme/read-blocks.ts';
import { openShell } from '../readme/shell.ts';
import { startPlatform } from '../support/start-platform.ts';
import { verifies } from '../support/verifies.ts';

const documents = [
  'README.md',
  'ARCHITECTURE.md',
  'STYLE.md',
  'CONTRIBUTING.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`)
    .sort(),
];
const textOf = (path: string): string => readFileSync(join(root, path), 'utf8');

/** Commands and outputs of a page; `> ` continues a command, as a shell shows it. */
function commandsOf(path: string) {
  return readBlocks(textOf(path))
    .filter(({ label }) => label === 'console')
    .flatMap((block) => readCommands({ ...block, text: block.text.replace(/\n> /g, '\u0000') }))
    .map(({ command, ...rest }) => ({ ...rest, command: command.replaceAll('\u0000', '\n') }));
}

const searches = /^portcullis \w+ search /;
const pages = documents.filter((path) => path !== 'README.md' && commandsOf(path).length > 0);

describe('commands of pages', () => {
  test.each(pages)('the commands of the page %s print the documented output', async (path) => {
    using folder = temporaryFolder();
    const hasOption = (option: string): boolean =>
      new RegExp(`npm start --(?: --[a-z]+)* ${option}\\b`).test(textOf(path));
    const settings = /^((?:PORTCULLIS_[A-Z_]+=\S+ )+)npm start\b/m.exec(textOf(path))?.[1]?.trim().split(' ') ?? [];
    await using platform = await startPlatform({
      memory: hasOption('--memory'),
      agents: hasOption('--agents'),
      catalogue: hasOption('--catalogue'),
      environment: Object.fromEntries(settings.map((setting) => setting.split('=', 2))),
    });
    const environment = { ...process.env, PORTCULLIS_DATA_DIR: platform.data, TMPDIR: folder.path };
    await using shell = openShell(root, environment);
    for (const { line, command, output } of commandsOf(path)) {
      let given = await shell.type(command);
      // An index follows its source with a delay, so that a search is repeated until the index is complete.
      for (let attempt = 1; searches.test(command) && attempt < 20 && !isPrinted(output, given); attempt += 1) {
        await pause(500);
        given = await shell.type(command);
      }
      expect(isPrinted(output, given), `line ${line}: ${command}\nprinted:\n${output}\ngiven:\n${given}`).toBe(true);
    }
  });

  test('at least six documentation pages have tested commands', () => {
    expect(pages.length).toBeGreaterThanOrEqual(6);
  });
});

describe('documents', () => {
  test.each(documents)('the documentation page %s links to existing files only', (path) => {
    const links = [...textOf(path).matchAll(/\]\((?!https?:|#)([^)#]+)(?:#[^)]*)?\)/g)].map((match) => match[1] ?? '');
    const missing = links.filter((link) => !statSync(resolve(root, dirname(path), link), { throwIfNoEntry: false }));
    expect(missing).toEqual([]);
  });

  test('the documentation names only existing npm scripts', () => {
    const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> };
    const named = documents.flatMap((path) =>
      [...textOf(path).matchAll(/\bnpm run (?:-s )?([a-z0-9]+)/g)].map((match) => match[1] ?? ''),
    );
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
    expect(named.length).toBeGreaterThan(3);
  });

  verifies(
    ['guardrail:limits:no-performance-promise'],
    'the documentation promises no latency, throughput or document size',
    () => {
      const promise =
        /\b(latency|throughput)\b|requests? per (second|minute)|\bp(50|90|95|99)\b|\bSL[AO]\b|guaranteed?\b/i;
      const openapi = textOf('runtime/http/openapi.json');
      for (const [path, text] of [
        ...documents.map((name) => [name, textOf(name)] as const),
        ['openapi', openapi] as const,
      ]) {
        // The obligation itself is quoted in the table of obligations.
        if (path === 'docs/reference/requirements.md') continue;
        // The benchmark report states that it gives no guarantee.
        if (path === 'docs/benchmarks.md') {
          expect(text).toContain('no guarantee');
          continue;
        }
        expect(promise.exec(text)?.[0], path).toBeUndefined();
      }
    },
  );
});
