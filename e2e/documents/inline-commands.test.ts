import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type NamedCommand, refusalOf } from '../../cli/testing/refusal-of.ts';
import { root } from '../../hack/check/run-tool.ts';
import { readBlocks } from '../readme/read-blocks.ts';

const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'ARCHITECTURE.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`)
    .sort(),
];

type Mentioned = NamedCommand & { readonly text: string };

/**
 * The commands in backticks outside of blocks, up to a pipe or a redirection. Words in capitals are placeholders for
 * values, `…` stands for further words, and square brackets contain optional parts.
 */
function commandsIn(markdown: string): readonly Mentioned[] {
  const prose = markdown.replace(/^```[^\n]*\n[\s\S]*?^```$/gm, '');
  return [...prose.matchAll(/`(kubectl )?portcullis ([^`]+)`/g)].map(([, kubectl, line = '']) => {
    const text = line.replace(/\s+/g, ' ');
    const words = text.match(/"[^"]*"|(?:[^\s"']|'[^']*')+/g) ?? [];
    const end = words.findIndex((word) => /^(\||\\\||>|<|&&|;)$/.test(word));
    return {
      text,
      program: kubectl === undefined ? 'portcullis' : 'kubectl portcullis',
      words: words
        .slice(0, end === -1 ? words.length : end)
        .map((word) => word.replace(/^\[|\]$/g, ''))
        .filter((word) => word !== '…' && word !== ''),
    };
  });
}

test('every command that a page names in its text exists with its options and arguments', async () => {
  const named = pages.flatMap((page) =>
    commandsIn(readFileSync(join(root, page), 'utf8')).map((one) => ({ page, ...one })),
  );
  expect(named.length).toBeGreaterThan(100);
  const refused: string[] = [];
  for (const { page, text, ...one } of named) {
    const refusal = await refusalOf(one, { isMention: true });
    if (refusal !== undefined) refused.push(`${page}: ${one.program} ${text}: ${refusal}`);
  }
  expect(refused).toEqual([]);
});

/** A command with an option that changes only its exit code, before a pipe. */
const forExitCode = /\bportcullis [^|&;\n]*--check\b[^|&;\n]*\|(?!\|)/;

test('no page sends a command with --check through a pipe, which has the exit code of its last command', () => {
  const piped = pages.flatMap((page) =>
    readBlocks(readFileSync(join(root, page), 'utf8')).flatMap(({ line, text }) =>
      forExitCode.test(text) ? [`${page}:${line}`] : [],
    ),
  );
  expect(piped).toEqual([]);
});

test.each([
  ['portcullis status --check | head -n 1', true],
  ['portcullis status --check -o json | jq .', true],
  ['portcullis status --check > /dev/null || echo ill', false],
  ['portcullis status | head -n 1', false],
])('a pipe after a command with --check is found, %s: %s', (line, isFound) => {
  expect(forExitCode.test(line)).toBe(isFound);
});

test.each([
  ['portcullis approve NAME', 'no command approve'],
  ['portcullis freeze add', 'no command add'],
  ['portcullis activity --models ALIAS', 'no option --models'],
  ['portcullis history', undefined],
  ['portcullis memory', undefined],
  ['portcullis history NAME | head -n 1', undefined],
  ['kubectl portcullis chat', 'no command chat'],
])('a command in backticks is compared with the command line, %s: %s', async (line, refusal) => {
  const [named] = commandsIn(`See \`${line}\`.`);
  expect(named === undefined ? 'not found' : await refusalOf(named, { isMention: true })).toBe(refusal);
});
