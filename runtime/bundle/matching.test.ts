import { describe, expect } from 'vitest';
import type { BaselineRule } from '#contracts/policy';
import { verifies } from '../../e2e/support/verifies.ts';
import { bundleOf, masking, regex, stopList } from '../testing/build-bundle.ts';
import { startRuntime } from '../testing/start-runtime.ts';

type Outcome = 'pass' | 'deny' | string;

/** Checks texts with one rule in both stages; a mask is recognised by the returned text. */
async function expectOutcomes(rule: BaselineRule, cases: readonly (readonly [string, Outcome])[]): Promise<void> {
  await using runtime = await startRuntime(bundleOf([rule]));
  for (const [text, expected] of cases) {
    for (const stage of ['request', 'response'] as const) {
      const { json } = await runtime.check(stage, [text]);
      const body = json.action?.['body'];
      const content = body?.['messages']?.['0']?.['content'] ?? body?.['choices']?.['0']?.['message']?.['content'];
      const reason = String(json.action?.['reason']);
      const outcome = { policy_pass: 'pass', policy_denied: 'deny' }[reason] ?? String(content);
      expect({ text, outcome }).toEqual({ text, outcome: expected });
    }
  }
}

describe('a stop list', () => {
  verifies(
    ['bundle:stop-list:deny', 'bundle:stop-list:match-substring'],
    'a stop list of substrings fires inside words',
    () =>
      expectOutcomes(stopList('words', ['cat', 'кот'], { match: 'substring' }), [
        ['a cat sat', 'deny'],
        ['concatenate', 'deny'],
        ['скотный двор', 'deny'],
        ['dog', 'pass'],
        ['c at', 'pass'],
        ['', 'pass'],
      ]),
  );

  verifies(['bundle:stop-list:match-token'], 'a stop list of tokens fires on whole tokens only', () =>
    expectOutcomes(stopList('words', ['cat', 'кот', 'big dog', '.net'], { match: 'token' }), [
      ['a cat sat', 'deny'],
      ['cat', 'deny'],
      ['(cat)', 'deny'],
      ['cat,dog', 'deny'],
      ['concatenate', 'pass'],
      ['cats', 'pass'],
      ['cat_food', 'pass'],
      ['cat5', 'pass'],
      ['чей кот?', 'deny'],
      ['скот', 'pass'],
      ['коты', 'pass'],
      ['a big dog', 'deny'],
      ['a big  dog', 'pass'],
      ['big dogs', 'pass'],
      ['use .net now', 'deny'],
      ['asp.net', 'pass'],
      ['cat\u0301', 'pass'],
    ]),
  );

  verifies(['bundle:stop-list:replace'], 'a stop list replaces every listed string, the longest at each place', () =>
    expectOutcomes(masking(stopList('names', ['ann', 'anna', 'йод']), '<n>'), [
      ['Anna and ann', '<n> and <n>'],
      ['annanna', '<n>nna'],
      ['annaann', '<n><n>'],
      ['ЙОД и йод', '<n> и <n>'],
      ['nobody', 'pass'],
    ]),
  );

  verifies(['bundle:stop-list:case-honoured'], 'a stop list honours caseSensitive', async () => {
    await expectOutcomes(stopList('words', ['Secret', 'Тайна'], { caseSensitive: true }), [
      ['Secret', 'deny'],
      ['secret', 'pass'],
      ['SECRET', 'pass'],
      ['Тайна', 'deny'],
      ['тайна', 'pass'],
    ]);
    await expectOutcomes(stopList('words', ['Secret', 'Тайна'], { caseSensitive: false }), [
      ['secret', 'deny'],
      ['SeCrEt', 'deny'],
      ['тАЙНА', 'deny'],
    ]);
  });

  verifies(['bundle:stop-list:no-unicode-normalization'], 'a stop list does no normalization of any kind', () =>
    expectOutcomes(stopList('words', ['caf\u00e9', 'fi', 'straße']), [
      ['caf\u00e9', 'deny'],
      ['cafe\u0301', 'pass'],
      ['cafe', 'pass'],
      ['\ufb01n', 'pass'],
      ['\uff46\uff49', 'pass'],
      ['strasse', 'pass'],
    ]),
  );
});

describe('a pattern', () => {
  verifies(['bundle:regex:deny'], 'a pattern denies where it matches', () =>
    expectOutcomes(regex('card', '\\b(?:\\d{4}[ -]?){3}\\d{4}\\b'), [
      ['pay with 4111 1111 1111 1111 now', 'deny'],
      ['4111-1111-1111-1111', 'deny'],
      ['4111 1111 1111', 'pass'],
      ['x4111111111111111', 'pass'],
    ]),
  );

  verifies(['bundle:regex:replace'], 'a pattern replaces each of its matches', () =>
    expectOutcomes(masking(regex('mail', '[\\w.]+@[\\w.]+\\.\\w+'), '[mail]'), [
      ['to a.b@c.de, x@y.org!', 'to [mail], [mail]!'],
      ['a@b', 'pass'],
    ]),
  );
});
