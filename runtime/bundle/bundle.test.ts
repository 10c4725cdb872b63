import { describe, expect, test } from 'vitest';
import { type Bundle, defaultBundleLimits } from '#contracts/bundle';
import { canonicalBytes, digestOf } from '#contracts/canonical';
import { describeProblem } from '#contracts/describe-problem';
import type { AdditionalRule, BaselineRule } from '#contracts/policy';
import { verifies } from '../../e2e/support/verifies.ts';
import {
  bundle,
  bundleOf,
  classifier,
  detector,
  enforced,
  masking,
  observed,
  policy,
  providersAt,
  quiet,
  regex,
  section,
  stopList,
} from '../testing/build-bundle.ts';
import { startRuntime } from '../testing/start-runtime.ts';
import { compileBundle } from './compile-bundle.ts';
import type { LoadedBundle } from './loaded-bundle.ts';
import { parseBundle } from './parse-bundle.ts';
import { canonicalVectors } from './testdata/canonical-digests.ts';

/** Loads a bundle like a runtime, or returns the sentences of its refusal. */
function load(value: unknown): LoadedBundle | readonly string[] {
  const bytes = Buffer.isBuffer(value) ? value : Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
  const parsed = parseBundle(bytes);
  if (!parsed.ok) return parsed.problems.map((problem) => describeProblem(problem, problem.policyId));
  const compiled = compileBundle(parsed, () => async () => ({ kind: 'allow' }));
  return compiled.ok ? compiled.loaded : compiled.problems.map((problem) => describeProblem(problem, problem.policyId));
}
const loads = (value: unknown): void =>
  expect(load(value)).toEqual(expect.objectContaining({ digest: expect.stringMatching(/^[0-9a-f]{64}$/) }));
const refuses = (value: unknown, why: RegExp | string): void => {
  const outcome = load(value);
  expect(outcome).toBeInstanceOf(Array);
  expect((outcome as string[]).join('\n')).toMatch(why);
};

/** A copy of a good bundle, edited without a type: `value` is the path's last member, undefined removes it. */
function edited(path: string, value: unknown, base: Bundle = bundleOf([stopList('words', ['x'])])): unknown {
  const copy = structuredClone(base) as unknown as Record<string, unknown>;
  const names = path.split('.');
  const last = names.pop() ?? '';
  const parent = names.reduce((at, name) => at[name] as Record<string, unknown>, copy);
  if (value === undefined) delete parent[last];
  else parent[last] = value;
  return copy;
}
const withRule = (rule: unknown): unknown => edited('policies.0.request.baseline', [rule]);
const withAdditional = (rule: unknown): unknown => edited('policies.0.request.additional', [rule]);

describe('a bundle', () => {
  verifies(
    [
      'bundle:policy:identifier',
      'bundle:policy:revision-string',
      'bundle:file:content-profile',
      'bundle:policy:request-and-response-sections',
      'bundle:section:deadline-ms',
    ],
    'a bundle without a member that the contract requires is refused',
    () => {
      loads(bundleOf([quiet]));
      for (const [path, place] of [
        ['policies.0.id', 'policies[0].id is required'],
        ['policies.0.revision', 'policy policy-a: revision is required'],
        ['contentProfile', 'contentProfile is required'],
        ['policies.0.request', 'policy policy-a, request section: is required'],
        ['policies.0.response', 'policy policy-a, response section: is required'],
        ['policies.0.request.deadlineMs', 'policy policy-a, request section: deadlineMs is required'],
        ['policies.0.response.deadlineMs', 'policy policy-a, response section: deadlineMs is required'],
        ['policies.0.request.baseline', 'policy policy-a, request section: baseline is required'],
        [
          'policies.0.request.baseline.0.timeoutMs',
          'policy policy-a, request section, rule words: timeoutMs is required',
        ],
        ['policies.0.request.additional', 'policy policy-a, request section: additional is required'],
        ['limits', 'limits is required'],
        ['limits.maxMatches', 'limits.maxMatches is required'],
        ['providers', 'providers is required'],
        ['policies', 'policies is required'],
        ['schema', 'schema is required'],
      ] as const) {
        refuses(edited(path, undefined), new RegExp(`^${RegExp.escape(place)}`, 'm'));
      }
      for (const revision of [1, null, true, '']) refuses(edited('policies.0.revision', revision), 'revision');
      refuses(edited('policies.0.id', ''), 'id');
      refuses(edited('contentProfile', 'gateway-2.0.0-chat-webhook-v3'), 'contentProfile');
      refuses(edited('policies', []), 'policies');
      refuses(bundle([policy(section([quiet])), policy(section([quiet]))]), 'used twice');
    },
  );

  verifies(['guardrail:versioning:schema-bundle-v1'], 'a bundle has the schema bundle/v1', () => {
    for (const schema of ['platform.guardrail-runtime.bundle/v2', 'bundle/v1', '', 1])
      refuses(edited('schema', schema), 'schema');
  });

  test('a bundle with a member that the schema does not define is refused', () => {
    for (const path of [
      'extra',
      'limits.extra',
      'policies.0.extra',
      'policies.0.request.extra',
      'policies.0.request.baseline.0.extra',
      'policies.0.request.baseline.0.stopList.extra',
      'policies.0.request.baseline.0.action.extra',
    ]) {
      refuses(edited(path, 1), 'extra');
    }
    refuses(JSON.stringify(bundleOf([quiet])).replace('{', '{"__proto__":{"a":1},'), '__proto__');
  });

  test('a bundle is strict JSON in UTF-8', () => {
    const text = JSON.stringify(bundleOf([quiet]));
    refuses(text.slice(0, -1), 'syntax');
    refuses(`${text}x`, 'syntax');
    refuses(`\ufeff${text}`, 'syntax');
    refuses(text.replace('"limits"', '"schema":"x","limits"'), 'duplicate_key');
    refuses(Buffer.concat([Buffer.from(text.slice(0, -1)), Buffer.from([0xff]), Buffer.from('}')]), 'utf8');
    refuses('', 'syntax');
    loads(` \n${text}\t`);
  });

  verifies(
    ['bundle:file:canonical-digest', 'guardrail:headers:bundle-digest-exact'],
    'the digest of a bundle is the SHA-256 of its canonical form, however the file is written',
    async () => {
      for (const [what, text, expected] of canonicalVectors)
        expect(load(text), what).toHaveProperty('digest', expected);
      const value = bundleOf([stopList('words', ['forbidden', 'ü'])]);
      const digest = digestOf(value);
      expect(digest).toMatch(/^[0-9a-f]{64}$/);
      const reversed = JSON.stringify(
        value,
        (_, member: unknown) =>
          typeof member === 'object' && member !== null && !Array.isArray(member)
            ? Object.fromEntries(Object.entries(member).reverse())
            : member,
        2,
      );
      const escaped = JSON.stringify(value).replace('ü', '\\u00fc').replaceAll('250', '2.5e2');
      for (const text of [JSON.stringify(value), reversed, escaped, canonicalBytes(value).toString()]) {
        expect(load(text)).toHaveProperty('digest', digest);
        await using runtime = await startRuntime(value, { text });
        expect((await runtime.check('request', ['hello'])).status).toBe(200);
      }
      expect(load(bundleOf([stopList('words', ['forbidden', 'u\u0308'])]))).not.toHaveProperty('digest', digest);
      expect(load(bundleOf([stopList('words', ['ü', 'forbidden'])]))).not.toHaveProperty('digest', digest);
    },
  );
});

describe('a section', () => {
  verifies(
    ['bundle:section:baseline-non-empty', 'bundle:section:additional-list'],
    'a section has at least one baseline rule and any number of additional ones',
    () => {
      for (const stage of ['request', 'response']) {
        refuses(edited(`policies.0.${stage}.baseline`, []), 'baseline');
        loads(edited(`policies.0.${stage}.baseline`, [quiet]));
        loads(edited(`policies.0.${stage}.additional`, []));
      }
    },
  );

  verifies(
    ['bundle:section:baseline-always-enforce', 'bundle:section:additional-enforce-or-observe'],
    'a section always enforces baseline rules, and runs additional rules in their mode',
    () => {
      for (const mode of ['observe', 'enforce', null]) refuses(withRule({ ...quiet, mode }), 'mode');
      loads(withAdditional({ ...quiet, id: 'more', mode: 'enforce' }));
      loads(withAdditional({ ...quiet, id: 'more', mode: 'observe' }));
      for (const mode of [undefined, 'off', 'audit', 'Observe', null])
        refuses(withAdditional({ ...quiet, id: 'more', mode }), 'mode');
    },
  );

  test('a section of a policy may not contain two rules with one id', () => {
    refuses(bundleOf([quiet, quiet]), 'used twice');
    refuses(bundleOf([quiet], [observed(quiet)]), 'used twice in its section, first by baseline[0]');
  });
});

describe('a rule of a bundle', () => {
  const providers = { providers: providersAt('http://127.0.0.1:1') };

  verifies(['bundle:rule:four-kinds'], 'a rule is of one of four kinds', () => {
    const four: BaselineRule[] = [stopList('a', ['x']), regex('b', 'x'), detector('c'), classifier('d')];
    loads(bundleOf(four, [], providers));
    loads(bundleOf([quiet], four.map(enforced), providers));
    for (const kind of ['stoplist', 'pii', 'keyword', '', null, undefined])
      refuses(withRule({ ...quiet, kind }), 'kind');
  });

  verifies(['bundle:stop-list:case-explicit'], 'a rule of kind stop_list must set caseSensitive', () => {
    const rule = stopList('a', ['x']);
    const { caseSensitive: _, ...silent } = rule.stopList;
    refuses(withRule({ ...rule, stopList: silent }), 'caseSensitive');
    for (const caseSensitive of [null, 'yes', 1])
      refuses(withRule({ ...rule, stopList: { ...silent, caseSensitive } }), 'caseSensitive');
    for (const caseSensitive of [true, false]) loads(withRule({ ...rule, stopList: { ...silent, caseSensitive } }));
    for (const terms of [[], [''], ['x', ''], [1], 'x'])
      refuses(withRule({ ...rule, stopList: { ...rule.stopList, terms } }), 'terms');
    refuses(withRule({ ...rule, stopList: { ...rule.stopList, match: 'word' } }), 'match');
  });

  verifies(
    ['bundle:regex:engine-value', 'bundle:regex:no-back-references', 'bundle:regex:no-lookbehind'],
    'a regex rule names the version of its engine, and a pattern with back-references or lookaround is refused',
    () => {
      for (const engine of ['re2', 're2-1.1.20250101', 'RE2-1.1.20251105', 'pcre', undefined]) {
        refuses(withRule({ ...regex('a', 'x'), regex: { ...regex('a', 'x').regex, engine } }), 'engine');
      }
      for (const pattern of [
        '(a)\\1',
        '(?<=a)b',
        '(?<!a)b',
        'a(?=b)',
        'a(?!b)',
        '(',
        'a{1001}',
        '\\u0041',
        '[z-a]',
        '*a',
      ]) {
        refuses(withRule(regex('a', pattern)), /policy policy-a, request section, rule a: /);
      }
      for (const pattern of ['a', '(?i)a|b', '\\bcat\\b', '[А-Яё]+', '^x$', '(?P<name>a)'])
        loads(withRule(regex('a', pattern)));
    },
  );

  test('a rule that masks cannot match an empty text or a part of a character', () => {
    for (const pattern of ['a*', 'a?', '', 'x|', '(a|b*)', '\\b', '^', '\\C', 'a\\Cb']) {
      if (pattern !== '') refuses(withRule(masking(regex('a', pattern), '#')), /rule a: /);
      if (pattern !== '') loads(withRule(regex('a', pattern)));
    }
    const parsed = parseBundle(Buffer.from(JSON.stringify(bundleOf([regex('a', 'x\\C')]))));
    const compiled = parsed.ok ? compileBundle(parsed, () => async () => ({ kind: 'allow' })) : undefined;
    expect(compiled?.ok === true && compiled.warnings.map(({ rule, stage }) => [stage, rule])).toEqual([
      ['request', 'a'],
      ['response', 'a'],
    ]);
  });

  verifies(
    [
      'bundle:external-pipeline:contract',
      'bundle:external-pipeline:no-masking',
      'bundle:llm-classifier:no-masking',
      'guardrail:versioning:schema-detector-v1',
    ],
    'a rule with a provider follows the one contract of its kind and cannot mask',
    () => {
      const base = bundleOf([detector('d'), classifier('c')], [], providers);
      loads(base);
      const rule = 'policies.0.request.baseline';
      for (const contract of ['platform.guardrail-runtime.detector/v2', 'detector/v1', '', undefined]) {
        refuses(edited(`${rule}.0.externalPipeline.contract`, contract, base), 'contract');
      }
      for (const profile of ['generic.chat-completions.classifier/v2', '', undefined]) {
        refuses(edited(`${rule}.1.llmClassifier.profile`, profile, base), 'profile');
      }
      for (const index of [0, 1]) {
        refuses(edited(`${rule}.${index}.action`, { type: 'mask', replacement: '#' }, base), 'action');
        refuses(edited(`${rule}.${index}.action`, { type: 'allow' }, base), 'action');
      }
      refuses(edited('providers', [], base), 'needs a detector named detector');
      refuses(edited('providers.0.kind', 'classifier', base), 'providers');
      refuses(edited('providers.0.endpoint', 'http://user:password@127.0.0.1/', base), 'user name or password');
      refuses(edited('providers.0.endpoint', 'file:///etc/passwd', base), 'endpoint');
    },
  );

  verifies(
    ['bundle:llm-classifier:instruction-versioned', 'bundle:classifier-profile:name'],
    'a rule of kind llm_classifier has a versioned instruction',
    () => {
      const base = bundleOf([classifier('c')], [], providers);
      for (const instruction of [
        undefined,
        { text: 'x' },
        { version: '', text: 'x' },
        { version: 1, text: 'x' },
        { version: '1' },
        'x',
      ]) {
        refuses(edited('policies.0.request.baseline.0.llmClassifier.instruction', instruction, base), 'instruction');
      }
    },
  );
});

describe('limits', () => {
  verifies(
    [
      'guardrail:limits:max-body-bytes-range',
      'guardrail:limits:max-messages-range',
      'guardrail:limits:max-matches-range',
      'guardrail:limits:max-concurrency-range',
      'guardrail:limits:queue-size-zero',
    ],
    'the limits of a bundle must be within their ranges',
    () => {
      for (const [name, least, most] of [
        ['maxBodyBytes', 256, 131_072],
        ['maxMessages', 1, 64],
        ['maxMatches', 1, 1_024],
        ['maxConcurrency', 1, 256],
        ['queueSize', 0, 0],
      ] as const) {
        loads(edited(`limits.${name}`, least));
        loads(edited(`limits.${name}`, most));
        for (const wrong of [least - 1, most + 1, least + 0.5, String(least), null, undefined])
          refuses(edited(`limits.${name}`, wrong), name);
      }
    },
  );

  verifies(
    [
      'guardrail:limits:deadline-ms-range',
      'guardrail:limits:timeout-ms-range',
      'guardrail:limits:timeout-ms-not-above-stage',
    ],
    'time limits must be within their ranges, and no rule has a longer timeout than its stage',
    () => {
      const small = { limits: { ...defaultBundleLimits, maxBodyBytes: 256 } };
      const timed = (deadlineMs: number, timeoutMs: number): unknown => {
        const rule: AdditionalRule = { ...enforced(regex('a', 'x')), timeoutMs };
        const base = bundleOf([{ ...regex('b', 'y'), timeoutMs }], [rule], small);
        return edited('policies.0.request.deadlineMs', deadlineMs, {
          ...base,
          policies: [{ ...base.policies[0]!, response: section([quiet]) }],
        });
      };
      loads(timed(1, 1));
      loads(timed(5_000, 5_000));
      loads(timed(250, 250));
      loads(timed(250, 20));
      refuses(timed(0, 1), 'deadlineMs');
      refuses(timed(5_001, 1), 'deadlineMs');
      refuses(timed(250, 0), 'timeoutMs');
      refuses(timed(5_000, 5_001), 'timeoutMs');
      refuses(timed(250, 251), /timeoutMs is above the deadlineMs 250 of its section/);
    },
  );

  verifies(
    ['guardrail:limits:bundle-file-size-raw', 'guardrail:limits:bundle-file-size-canonical'],
    'limits hold a file to 716,800 bytes before and after canonical form',
    () => {
      const base = bundleOf([quiet], [], { policies: [policy(section([quiet]), section([quiet]))] });
      const canonical = (value: unknown): number => canonicalBytes(value).length;
      const padded = (bytes: number): unknown => {
        const terms = Array.from({ length: Math.floor((bytes - canonical(base)) / 1_003) }, (_, index) =>
          `${index}-`.padEnd(1_000, 'a'),
        );
        const list = (last: string): unknown =>
          edited('policies.0.request.baseline', [stopList('words', [...terms, last])], base);
        return list('a'.repeat(bytes - canonical(list(''))));
      };
      const full = padded(716_800);
      expect(canonical(full)).toBe(716_800);
      loads(full);
      loads(canonicalBytes(full));
      refuses(Buffer.concat([canonicalBytes(full), Buffer.from(' ')]), '716800 bytes');
      const small = JSON.stringify(base);
      loads(small + ' '.repeat(716_800 - Buffer.byteLength(small)));
      refuses(small + ' '.repeat(716_801 - Buffer.byteLength(small)), 'the bundle is larger than 716800 bytes');
      const over = padded(716_801);
      expect(canonical(over)).toBe(716_801);
      refuses(over, '716800 bytes');
      const short = JSON.stringify(full)
        .replace('"deadlineMs":4000', '"deadlineMs":4e3')
        .replace('"deadlineMs":4000', '"deadlineMs":4e3');
      expect(Buffer.byteLength(short)).toBe(716_798);
      const shorter = JSON.stringify(over)
        .replace('"deadlineMs":4000', '"deadlineMs":4e3')
        .replace('"deadlineMs":4000', '"deadlineMs":4e3');
      expect(Buffer.byteLength(shorter)).toBeLessThan(716_800);
      loads(short);
      refuses(shorter, 'the canonical form of the bundle is larger than 716800 bytes');
    },
  );
});
