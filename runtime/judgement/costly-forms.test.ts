import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { bundle, policy, regex, section, stopList } from '../testing/build-bundle.ts';
import { judgeBundle } from './judge-bundle.ts';

// The table of docs/write-a-policy.md with alternatives to costly patterns.
const page = readFileSync(join(import.meta.dirname, '../../docs/write-a-policy.md'), 'utf8');
const heading = '| Refused | Why | Admitted |\n|---|---|---|\n';

function rows(): readonly { readonly refused: string; readonly admitted: string }[] {
  const table = page.slice(page.indexOf(heading) + heading.length).split('\n\n')[0] ?? '';
  return table.split('\n').map((line) => {
    const [refused, admitted] = [...line.matchAll(/`([^`]*)`/g)].map((match) => match[1] ?? '');
    return { refused: refused ?? '', admitted: admitted ?? '' };
  });
}

async function problemsOf(pattern: string): Promise<readonly string[]> {
  const rule = { ...regex('subject', pattern), timeoutMs: 20 };
  const sections = section([rule]);
  const subject = bundle([policy({ ...sections, deadlineMs: 250 }, section([stopList('quiet', ['x'])]))]);
  const { problems } = await judgeBundle({ bundle: JSON.stringify(subject), checks: [] });
  return problems.map(({ rule: id, code }) => `${id} ${code}`);
}

test('the table of costly patterns has rows', () => {
  expect(page).toContain(heading);
  expect(rows().length).toBeGreaterThanOrEqual(5);
});

describe('with a timeoutMs of 20 at a maxBodyBytes of 32768', () => {
  test.each(rows())(
    'the pattern $refused is refused for its cost, and $admitted is admitted',
    async ({ refused, admitted }) => {
      expect(await problemsOf(refused)).toEqual(['subject rule_too_costly']);
      expect(await problemsOf(admitted)).toEqual([]);
    },
  );
});
