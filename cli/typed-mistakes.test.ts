import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dataDirectory } from '#contracts/data-directory';
import type { ProgramEnd } from '#kit/testing/run-to-end';
import { type Platform, startPlatform } from '../e2e/support/start-platform.ts';
import { checkout } from './platform/data-directory.ts';
import { developmentIssuer } from './platform/development-issuer.ts';
import { signToken } from './platform/sign-token.ts';
import { foreignOptions } from './testing/foreign-options.ts';
import type { Mistake } from './testing/mistakes/mistake.ts';
import { mistakesOfAdministration } from './testing/mistakes/of-administration.ts';
import { mistakesOfAgents } from './testing/mistakes/of-agents.ts';
import { mistakesOfCommandLines } from './testing/mistakes/of-command-lines.ts';
import { mistakesOfFiles } from './testing/mistakes/of-files.ts';
import { mistakesOfManifests } from './testing/mistakes/of-manifests.ts';
import { mistakesOfPolicies } from './testing/mistakes/of-policies.ts';
import { mistakesOfResources } from './testing/mistakes/of-resources.ts';
import { type Folder, folderWithFiles, runInProcess } from './testing/run-cli.ts';

const mistakes: readonly Mistake[] = [
  ...mistakesOfAdministration,
  ...mistakesOfAgents,
  ...mistakesOfCommandLines,
  ...mistakesOfFiles,
  ...mistakesOfManifests,
  ...mistakesOfPolicies,
  ...mistakesOfResources,
];

let platform: Platform;
let folder: Folder;
beforeAll(async () => {
  folder = folderWithFiles();
  platform = await startPlatform({ management: true });
  const agent = join(checkout, 'examples/agents/assistant/agent.yaml');
  expect(await runInProcess(['apply', '-f', agent], { data: platform.data })).toMatchObject({ code: 0 });
  const sign = (subject: string, ttlSeconds: number): Promise<string> =>
    signToken(dataDirectory(platform.data), { subject, audience: developmentIssuer.audience, ttlSeconds });
  folder.write('old', await sign('stranger', -3_600));
  folder.write('stranger', await sign('stranger', 3_600));
});
afterAll(async () => {
  print();
  await platform[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

/** Words of the libraries, the engine and the operating system. */
const foreignWords =
  /\bExpected\b|Invalid input|\bENOENT|\bE(?:ISDIR|ACCES|CONNREFUSED)\b|\n\s+at |ZodError|\bundefined\b|\[object |TypeError|SyntaxError|fetch failed|Implicit|flow collection|YAMLParseError|error:/;

/** The result that a reader of a message sees: the mistake and how the command ended. */
const told = new Map<Mistake, ProgramEnd>();

/** With PORTCULLIS_MISTAKES=FILE, all mistakes and messages are written to a file, so that a reader can judge them. */
function print(): void {
  const file = process.env['PORTCULLIS_MISTAKES'];
  if (file === undefined) return;
  const sections = [...told].map(([mistake, end], at) => `## ${at + 1}. ${mistake.title}\n\n${asTyped(mistake, end)}`);
  writeFileSync(file, sections.join('\n'));
}

/**
 * A mistake as it looks on a terminal in a folder with its files, without paths of this machine or values of this run.
 */
function asTyped({ args, files = {}, input, environment = {} }: Mistake, { code, stdout, stderr }: ProgramEnd): string {
  const shown = Object.entries(files).filter(([name]) => !name.endsWith('/'));
  const contents = shown.map(([name, content]) => `${name}:\n${numbered(content)}\n`);
  const set = Object.entries(environment).map(([name, value]) => `${name}=${value} `);
  const words = args.map((word) => (/^[\w./:=-]+$/.test(word) ? word : `'${word}'`)).join(' ');
  const typed = `$ ${set.join('')}portcullis ${words}${input === undefined ? '' : ` <<< '${input}'`}`;
  const { gateway } = platform.status().addresses;
  const place = (text: string): string =>
    text
      .replaceAll(`${folder.path}/`, '')
      .replaceAll('FOLDER/', '')
      .replaceAll(folder.path, '.')
      .replaceAll('FOLDER', '.')
      .replaceAll(platform.data, '.portcullis')
      .replaceAll(gateway, 'http://127.0.0.1:8080')
      .replaceAll('GATEWAY', 'http://127.0.0.1:8080')
      .replaceAll(`${checkout}/`, '')
      .replaceAll(/\b(process|kill) \d+/g, '$1 4711')
      .replaceAll(/20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '2026-11-30T10:00:00.000Z');
  return place(
    `${contents.join('\n')}${contents.length === 0 ? '' : '\n'}${typed}\n${stdout}${stderr}exit code ${code}\n`,
  );
}

function numbered(content: string): string {
  const lines = content.replace(/\n$/, '').split('\n');
  return lines.map((line, at) => `${String(at + 1).padStart(4)}  ${line}`).join('\n');
}

test('each mistake has its own title, and docs/figures.md says how many there are', () => {
  expect(new Set(mistakes.map(({ title }) => title)).size).toBe(mistakes.length);
  const [row = ''] =
    readFileSync(join(checkout, 'docs/figures.md'), 'utf8').match(/^\| `cli\/typed-mistakes\.test\.ts` .*$/m) ?? [];
  expect(row).toContain(`| ${mistakes.length};`);
});

describe('the message about', () => {
  test.each(mistakes.map((mistake) => [mistake.title, mistake] as const))(
    'the message for %s names the place and the remedy',
    async (_, mistake) => {
      const { args, files = {}, input, environment, exit, place, remedy, without = [] } = mistake;
      const filled = (text: string): string =>
        text
          .replaceAll('FOLDER', folder.path)
          .replaceAll('DATA', platform.data)
          .replaceAll('GATEWAY', platform.status().addresses.gateway);
      for (const [name, content] of Object.entries(files)) {
        if (name.endsWith('/')) mkdirSync(join(folder.path, name), { recursive: true });
        else writeFileSync(join(folder.path, name), content, mistake.encoding ?? 'utf8');
      }
      const end = await runInProcess(args.map(filled), {
        data: platform.data,
        ...(input === undefined ? {} : { input }),
        ...(environment === undefined ? {} : { environment }),
      });
      told.set(mistake, end);
      for (const words of [...place, ...remedy]) expect.soft(end.stderr).toContain(filled(words));
      for (const words of without) expect.soft(end.stderr).not.toContain(words);
      expect.soft(end.stderr).toMatch(/^portcullis: /);
      expect.soft(end.stderr).not.toMatch(foreignWords);
      expect.soft(await foreignOptions('portcullis', args, end.stderr)).toEqual([]);
      expect.soft({ code: end.code, stdout: exit === 5 ? '' : end.stdout }).toEqual({ code: exit, stdout: '' });
    },
  );
});

test('portcullis apply --wait exits with 12 when no gateway has applied the binding in time', async () => {
  const binding = readFileSync(join(checkout, 'examples/guarded-chat/binding.yaml'), 'utf8');
  const text = binding.replaceAll('guarded-echo', 'elsewhere').replace('gateway: default', 'gateway: elsewhere');
  const args = ['apply', '-f', folder.write('elsewhere.yaml', text), '--wait', '1'];
  const { code, stderr } = await runInProcess(args, { data: platform.data });
  expect(code).toBe(12);
  expect(stderr).toContain('elsewhere');
  expect(stderr).not.toMatch(foreignWords);
});
