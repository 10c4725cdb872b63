import { describe, expect, test } from 'vitest';
import { type Bundle, defaultBundleLimits } from '#contracts/bundle';
import { bundle, bundleOf, masking, policy, regex, section, stopList } from '../testing/build-bundle.ts';
import { admitSection, allowanceOf } from './admit.ts';
import { compileBundle } from './compile-bundle.ts';
import { parseBundle } from './parse-bundle.ts';

const place = { policyId: 'p', stage: 'request' } as const;
const pass = (rule: string, costMs: number) => ({ rules: [rule], costMs });

function compile(value: Bundle): ReturnType<typeof compileBundle> {
  const parsed = parseBundle(Buffer.from(JSON.stringify(value)));
  if (!parsed.ok) throw new Error(parsed.problems.map(({ message }) => message).join());
  return compileBundle(parsed, () => async () => ({ kind: 'allow' }));
}

describe('the cost limits of a section', () => {
  test('a pass may take a quarter of the smallest local timeout, at most 25 ms; the passes of a section may take half of its deadline', () => {
    expect(allowanceOf({ deadlineMs: 250 }, [20, 40])).toEqual({ passMs: 5, sectionMs: 125, smallestTimeoutMs: 20 });
    expect(allowanceOf({ deadlineMs: 5_000 }, [5_000])).toEqual({
      passMs: 25,
      sectionMs: 2_500,
      smallestTimeoutMs: 5_000,
    });
    expect(allowanceOf({ deadlineMs: 100 }, [])).toEqual({ passMs: 25, sectionMs: 50, smallestTimeoutMs: 100 });
  });
});

describe('admission', () => {
  const admit = (deadlineMs: number, timeoutMs: number, ...passes: ReturnType<typeof pass>[]) =>
    admitSection(place, { allowance: allowanceOf({ deadlineMs }, [timeoutMs]), maxBodyBytes: 32_768 }, passes);

  test('admission refuses a pass that takes longer than allowed, by name and reason', () => {
    expect(admit(250, 20, pass('a', 5))).toEqual([]);
    expect(admit(250, 20, pass('a', 5), pass('b', 5.01))).toEqual([
      {
        ...place,
        rule: 'b',
        code: 'rule_too_costly',
        message:
          'it may take 5.01 ms on 32768 bytes (maxBodyBytes), above 5.00 ms, a quarter of the smallest timeoutMs (20 ms) ' +
          'of the local rules of its section: write it narrower, with small bounds such as {0,64} and few alternatives, ' +
          'raise timeoutMs of every local rule of its section to 21, or move it into an external detector',
      },
    ]);
    expect(admit(5_000, 5_000, pass('a', 25))).toEqual([]);
    expect(admit(5_000, 5_000, pass('a', 25.1))).toMatchObject([
      {
        rule: 'a',
        message:
          'it may take 25 ms on 32768 bytes (maxBodyBytes), above 25 ms, the most that any local rule may take: write it ' +
          'narrower, with small bounds such as {0,64} and few alternatives, or move it into an external detector',
      },
    ]);
    for (const costMs of [Number.POSITIVE_INFINITY, Number.NaN]) {
      expect(admit(250, 20, pass('a', costMs))).toMatchObject([
        { rule: 'a', message: expect.stringContaining('no known bound') },
      ]);
    }
    expect(admit(250, 20, pass('a', 6), pass('b', 7), pass('a', 9), pass('a', 8))).toMatchObject([
      { rule: 'a', message: expect.stringContaining('9.00 ms') },
      { rule: 'b', message: expect.stringContaining('7.00 ms') },
    ]);
  });

  test('admission refuses a section whose passes together take more than half of its deadline', () => {
    expect(admit(10, 10, pass('a', 2.5), pass('b', 2.5))).toEqual([]);
    expect(admit(10, 10, pass('a', 2.4), pass('b', 2.5), pass('c', 0.2))).toMatchObject([
      {
        rule: 'b',
        code: 'rule_too_costly',
        message:
          'the local rules of its section together may take 5.10 ms on 32768 bytes (maxBodyBytes), more than half of ' +
          'deadlineMs (5.00 ms), and this rule takes the largest part (2.50 ms): remove or narrow rules, or raise deadlineMs',
      },
    ]);
  });
});

describe('a bundle', () => {
  const timed = (pattern: string, timeoutMs: number) => {
    const rule = { ...regex('costly', pattern), timeoutMs };
    return bundle([policy({ ...section([rule]), deadlineMs: 5_000 }, section([stopList('quiet', ['x'])]))]);
  };

  test('a bundle with a pattern that is slow on some text is refused, whatever its timeout', () => {
    for (const timeoutMs of [20, 5_000]) {
      for (const pattern of ['(.{1,100}){1,9}Z', '\\p{L}{100,200}Z', '[b-z].{10,50}x1y']) {
        expect(compile(timed(pattern, timeoutMs))).toMatchObject({
          ok: false,
          problems: [{ policyId: 'policy-a', stage: 'request', rule: 'costly', code: 'rule_too_costly' }],
        });
      }
      expect(compile(timed('password\\s*[:=]\\s*\\S+', timeoutMs))).toMatchObject({ ok: true });
    }
  });

  test('a bundle is refused for a timeout that is too small for its largest body', () => {
    const words = (maxBodyBytes: number) =>
      bundleOf([{ ...stopList('words', ['forbidden']), timeoutMs: 1 }], [], {
        limits: { ...defaultBundleLimits, maxBodyBytes },
      });
    expect(compile(words(256))).toMatchObject({ ok: true });
    expect(compile(words(131_072))).toMatchObject({
      ok: false,
      problems: [{ code: 'rule_too_costly' }, { stage: 'response' }],
    });
  });

  test('admission of a bundle includes the cost of listing matches for a rule that masks', () => {
    const cheap = regex('mail', '[a-z]+@[a-z]+');
    expect(compile(bundleOf([cheap]))).toMatchObject({ ok: true });
    expect(compile(bundleOf([masking(cheap, '#')]))).toMatchObject({ ok: true });
    const rescanning = '(?s)a.*b|a';
    expect(compile(bundleOf([regex('a', rescanning)]))).toMatchObject({ ok: true });
    expect(
      compile(
        bundleOf([masking(regex('a', rescanning), '#')], [], {
          limits: { ...defaultBundleLimits, maxMatches: 1_024, maxBodyBytes: 131_072 },
        }),
      ),
    ).toMatchObject({
      ok: false,
      problems: [{ rule: 'a', code: 'rule_too_costly' }, { stage: 'response' }],
    });
  });

  test('the refusal of a bundle names every rule that causes it', () => {
    const compiled = compile(bundleOf([regex('one', '(?=a)'), regex('two', 'a\\1'), stopList('fine', ['x'])]));
    expect(compiled.ok === false && compiled.problems.map(({ stage, rule }) => `${stage} ${rule}`)).toEqual([
      'request one',
      'request two',
      'response one',
      'response two',
    ]);
  });
});
