import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Bundle } from '#contracts/bundle';
import { type Fold, folds } from '#contracts/folds';
import type { BaselineRule } from '#contracts/policy';
import { contextHeaders } from '#contracts/profiles';
import { compileBundle } from '../bundle/compile-bundle.ts';
import { parseBundle } from '../bundle/parse-bundle.ts';
import { bundle, bundleOf, masking, policy, quiet, regex, section, stopList } from '../testing/build-bundle.ts';
import { type RuntimeResponse, startRuntime, type TestRuntime } from '../testing/start-runtime.ts';

// Every row of docs/matching.md is a test: the tests read their data from that page.
const page = join(import.meta.dirname, '../../docs/matching.md');

type Row = { readonly line: number; readonly source: string; readonly cells: readonly string[] };

/** The rows of all tables of the page, grouped by column headings. */
function readTables(): ReadonlyMap<string, readonly Row[]> {
  const tables = new Map<string, Row[]>();
  let open: Row[] | undefined;
  for (const [at, source] of readFileSync(page, 'utf8').split('\n').entries()) {
    if (!source.startsWith('|')) {
      open = undefined;
      continue;
    }
    const cells = source
      .slice(1, -1)
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim().replaceAll('\\|', '|'));
    if (open === undefined) {
      open = tables.get(cells.join(' ')) ?? [];
      tables.set(cells.join(' '), open);
    } else if (!/^-+$/.test(cells[0] ?? '')) open.push({ line: at + 1, source, cells });
  }
  return tables;
}

const tables = readTables();
const rowsOf = (columns: string): readonly Row[] => tables.get(columns) ?? [];
const cell = (row: Row, index: number): string => row.cells[index] ?? '';

/** The code spans of a table cell, in order. */
const codesOf = (text: string): readonly string[] => [...text.matchAll(/`([^`]*)`/g)].map((match) => match[1] ?? '');
const codeOf = (text: string): string => (text === '(empty)' ? '' : (codesOf(text)[0] ?? ''));
/** A text or term of the page with its escapes decoded. */
const written = (text: string): string =>
  text
    .replaceAll('\\n', '\n')
    .replace(/\\u\{([0-9a-f]+)\}/g, (_, hex: string) => String.fromCodePoint(Number.parseInt(hex, 16)));
const textOf = (text: string): string => written(codeOf(text));

type Expected = { readonly rules: readonly BaselineRule[]; readonly texts: readonly string[]; readonly result: string };
type Case = Expected & { readonly row: Row };

function termRow(row: Row): Expected {
  const [match, casing] = cell(row, 1).split(', ');
  if (match !== 'token' && match !== 'substring') throw new Error(`line ${row.line}: ${match}`);
  const list = stopList('rule', codesOf(cell(row, 0)).map(written), { match, caseSensitive: casing === 'case' });
  return { rules: [masking(list, '#')], texts: [textOf(cell(row, 2))], result: resultOf(cell(row, 3)) };
}

const foldsIn = (text: string): readonly Fold[] => folds.filter((fold) => text === 'all' || text.includes(fold));

function foldedTermRow(row: Row): Expected {
  const match = cell(row, 1) === 'token' ? 'token' : 'substring';
  const list = stopList('rule', codesOf(cell(row, 0)).map(written), { match, fold: [...foldsIn(cell(row, 2))] });
  return { rules: [masking(list, '#')], texts: [textOf(cell(row, 3))], result: resultOf(cell(row, 4)) };
}

function optionRow(row: Row): Expected {
  const allow = codesOf(cell(row, 1)).map(written);
  const option = cell(row, 1) === 'stems' ? ({ stem: 'snowball' } as const) : { allow };
  const list = stopList('rule', codesOf(cell(row, 0)).map(written), { match: 'token', ...option });
  return { rules: [masking(list, '#')], texts: [textOf(cell(row, 2))], result: resultOf(cell(row, 3)) };
}

function foldedPatternRow(row: Row): Expected {
  const rule = masking(regex('rule', codeOf(cell(row, 0)), true), '#');
  const folded = { ...rule, regex: { ...rule.regex, fold: [...foldsIn(cell(row, 1))] } };
  return { rules: [folded], texts: [textOf(cell(row, 2))], result: resultOf(cell(row, 3)) };
}

function messageRow(row: Row): Expected {
  const list = stopList('rule', codesOf(cell(row, 0)).map(written), { match: 'token' });
  const texts = codesOf(cell(row, 1)).map(written);
  const result = codesOf(cell(row, 2));
  return { rules: [masking(list, '#')], texts, result: result.length === 0 ? cell(row, 2) : result.join('\n') };
}

function patternRow(row: Row): Expected {
  const rule = regex('rule', codeOf(cell(row, 0)), cell(row, 1) === 'yes');
  const result = resultOf(cell(row, 3));
  return { rules: [result === 'denied' ? rule : masking(rule, '#')], texts: [textOf(cell(row, 2))], result };
}

function ruleRow(row: Row): Expected {
  const rules = [...cell(row, 0).matchAll(/`([^`]*)` → (?:`([^`]*)`|(deny))/g)].map(([, term, replacement], at) => {
    const list = stopList(`rule-${at}`, [term ?? ''], { match: 'substring' });
    return replacement === undefined ? list : masking(list, replacement);
  });
  return { rules, texts: [textOf(cell(row, 1))], result: resultOf(cell(row, 2)) };
}

/** A text in code, or a word. */
const resultOf = (text: string): string => (text.startsWith('`') ? textOf(text) : text);

const outcomes: readonly Case[] = [
  ...rowsOf('Terms How Text Result').map((row) => ({ row, ...termRow(row) })),
  ...rowsOf('Pattern Case Text Result').map((row) => ({ row, ...patternRow(row) })),
  ...rowsOf('Terms Stems or allowed Text Result').map((row) => ({ row, ...optionRow(row) })),
  ...rowsOf('Terms How Folds Text Result').map((row) => ({ row, ...foldedTermRow(row) })),
  ...rowsOf('Pattern Folds Text Result').map((row) => ({ row, ...foldedPatternRow(row) })),
  ...rowsOf('Terms Messages Result').map((row) => ({ row, ...messageRow(row) })),
  ...rowsOf('Rules Text Result').map((row) => ({ row, ...ruleRow(row) })),
];
const empties = rowsOf('Pattern Text Denies As a mask');
const escapes = rowsOf('In the JSON of the request Answer');

const idOf = (row: Row): string => `line-${row.line}`;

/** One policy for each row that has a policy, so that one runtime judges the page. */
function pageBundle(): Bundle {
  return bundle([
    policy(section([quiet]), section([quiet]), 'escapes'),
    ...outcomes.map(({ row, rules }) => policy(section(rules), section(rules), idOf(row))),
    ...empties.map((row) => {
      const rules = [regex('rule', codeOf(cell(row, 0)))];
      return policy(section(rules), section(rules), idOf(row));
    }),
  ]);
}

let runtime: TestRuntime;
beforeAll(async () => {
  runtime = await startRuntime(pageBundle());
});
afterAll(() => runtime[Symbol.asyncDispose]());

const underPolicy = (id: string): Readonly<Record<string, string>> => ({ [contextHeaders.policyId]: id });

/** The outcome of a request in the words that docs/matching.md uses. */
function outcomeOf({ status, json }: RuntimeResponse): string {
  if (status !== 200) return String(json.code);
  const reason = String(json.action?.['reason']);
  const messages: RuntimeResponse['json'] = json.action?.['body']?.['messages'] ?? {};
  const contents = Object.keys(messages).map((at) => String(messages[at]?.['content']));
  return { policy_pass: '-', policy_denied: 'denied' }[reason] ?? contents.join('\n');
}

test('docs/matching.md has rows in every known table, and no other table', () => {
  expect([...tables.keys()].sort()).toEqual(
    [
      'Terms How Text Result',
      'Pattern Case Text Result',
      'Terms Stems or allowed Text Result',
      'Terms How Folds Text Result',
      'Pattern Folds Text Result',
      'Terms Messages Result',
      'Rules Text Result',
      'Pattern Text Denies As a mask',
      'In the JSON of the request Answer',
    ].sort(),
  );
  expect(outcomes.length + empties.length + escapes.length).toBeGreaterThan(150);
});

describe('terms, patterns and several rules', () => {
  test.each(outcomes.map((one) => [one.row.source, one] as const))(
    'the runtime decides as docs/matching.md says: %s',
    async (_, { row, texts, result }) => {
      expect(outcomeOf(await runtime.check('request', texts, underPolicy(idOf(row))))).toBe(result);
    },
  );
});

describe('matches of nothing', () => {
  test.each(empties.map((row) => [row.source, row] as const))(
    'an empty match has the effect that docs/matching.md says: %s',
    async (_, row) => {
      const denied = outcomeOf(await runtime.check('request', [textOf(cell(row, 1))], underPolicy(idOf(row))));
      expect(denied).toBe(cell(row, 2) === 'yes' ? 'denied' : '-');
      const masks = bundleOf([masking(regex('rule', codeOf(cell(row, 0))), '#')]);
      const parsed = parseBundle(Buffer.from(JSON.stringify(masks)));
      const compiled = parsed.ok && compileBundle(parsed, () => async () => ({ kind: 'allow' }));
      expect(compiled !== false && compiled.ok ? 'taken' : 'refused').toBe(cell(row, 3));
    },
  );
});

describe('text on the wire', () => {
  test.each(escapes.map((row) => [row.source, row] as const))(
    'escapes on the wire are read as docs/matching.md says: %s',
    async (_, row) => {
      const body = `{"body":{"messages":[{"role":"user","content":${codeOf(cell(row, 0))}}]}}`;
      const { status, json } = await runtime.post('/request', body, underPolicy('escapes'));
      expect(status === 200 ? '200' : `${status} ${json.code}`).toBe(cell(row, 1));
    },
  );
});
