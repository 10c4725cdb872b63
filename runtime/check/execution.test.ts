import { describe, expect, test } from 'vitest';
import { defaultBundleLimits } from '#contracts/bundle';
import type { AdditionalRule, BaselineRule } from '#contracts/policy';
import { answers, type Script, type ScriptedHttp, silence, startScriptedHttp } from '#kit/testing/scripted-http';
import { until } from '#kit/testing/until';
import { verifies } from '../../e2e/support/verifies.ts';
import {
  bundleOf,
  classifier,
  detector,
  enforced,
  masking,
  observed,
  providersAt,
  quiet,
  regex,
  stopList,
} from '../testing/build-bundle.ts';
import { allow, completion, deny } from '../testing/provider-answers.ts';
import { type RuntimeResponse, startRuntime, type TestRuntime } from '../testing/start-runtime.ts';

const outcome = ({ status, json }: RuntimeResponse): object => ({ status, code: json.code ?? json.action?.['reason'] });
const pass = { status: 200, code: 'policy_pass' };
const denied = { status: 200, code: 'policy_denied' };
const failed = (code: string): object => ({ status: 503, code });
const judge = answers(completion({ decision: 'allow' }));
const word = stopList('word', ['forbidden']);
const name = masking(stopList('name', ['alice']), '[name]');

/** Answers requests at both paths of `providersAt`. */
const allowAll: Script = (response, request) => (request.path === '/chat' ? judge : allow)(response, request);

async function serve(
  provider: ScriptedHttp,
  baseline: readonly BaselineRule[],
  additional: readonly AdditionalRule[] = [],
): Promise<TestRuntime> {
  return startRuntime(bundleOf(baseline, additional, { providers: providersAt(provider.url) }));
}

describe('the order of rules', () => {
  verifies(
    [
      'guardrail:execution:deny-stops-later',
      'guardrail:execution:baseline-first',
      'guardrail:execution:additional-in-list-order',
    ],
    'baseline rules run before additional rules, in list order; a deny stops the later ones',
    async () => {
      await using provider = await startScriptedHttp(allowAll);
      const orders: [BaselineRule[], AdditionalRule[], number][] = [
        [[word, detector('d')], [], 0],
        [[detector('d'), word], [], 1],
        [[word], [enforced(detector('d'))], 0],
        [[detector('d')], [enforced(word)], 1],
        [[quiet], [enforced(word), enforced(detector('d'))], 0],
        [[quiet], [enforced(detector('d')), enforced(word)], 1],
        [[quiet], [enforced(detector('d')), enforced(word), enforced(classifier('c'))], 1],
        [[quiet, detector('d'), classifier('c')], [enforced(detector('e')), enforced(word)], 3],
      ];
      for (const [baseline, additional, calls] of orders) {
        await using runtime = await serve(provider, baseline, additional);
        const before = provider.seen.length;
        expect(outcome(await runtime.check('request', ['forbidden']))).toEqual(denied);
        expect(provider.seen.length - before).toBe(calls);
      }
    },
  );

  test('the first rule in list order that denies or fails decides, whichever rules were matched together', async () => {
    await using provider = await startScriptedHttp(answers('no', 500));
    await using first = await serve(provider, [word, detector('d')]);
    expect(outcome(await first.check('request', ['forbidden']))).toEqual(denied);
    await using second = await serve(provider, [detector('d'), word]);
    expect(outcome(await second.check('request', ['forbidden']))).toEqual(failed('provider_unavailable'));
  });

  test('after a rule denies, the later rules count as not run', async () => {
    await using runtime = await startRuntime(
      bundleOf(
        [stopList('one', ['forbidden']), stopList('two', ['forbidden'])],
        [observed(regex('three', 'forbidden'))],
      ),
    );
    await runtime.check('request', ['forbidden']);
    const fired = (rule: string): Promise<number> => runtime.metric('portcullis_runtime_rule_firings_total', { rule });
    expect([await fired('one'), await fired('two'), await fired('three')]).toEqual([1, 0, 0]);
  });
});

describe('the original text', () => {
  verifies(
    ['guardrail:execution:sees-original-text'],
    'every rule gets the original text, even after a mask',
    async () => {
      await using runtime = await startRuntime(
        bundleOf([masking(stopList('hide', ['forbidden']), '***'), regex('word', 'forbidden')]),
      );
      expect(outcome(await runtime.check('request', ['forbidden']))).toEqual(denied);
    },
  );

  verifies(
    ['guardrail:execution:replacements-after-checks'],
    'the original text is replaced only after all rules have run',
    async () => {
      await using runtime = await startRuntime(bundleOf([name, word]));
      expect(outcome(await runtime.check('request', ['alice', 'forbidden']))).toEqual(denied);
      expect(outcome(await runtime.check('request', ['alice', 'hello']))).toEqual({
        status: 200,
        code: 'content_redacted',
      });
    },
  );

  verifies(
    ['guardrail:execution:mask-does-not-hide', 'guardrail:execution:two-checks-hide'],
    'a classifier after a mask rule gets the original text; two separate checks avoid that',
    async () => {
      await using provider = await startScriptedHttp(judge);
      await using together = await serve(provider, [name, classifier('c')]);
      const once = await together.check('request', ['I am alice']);
      expect(once.json.action?.['body']).toEqual({ messages: [{ role: 'user', content: 'I am [name]' }] });
      expect(provider.seen[0]?.text).toContain('I am alice');
      await using local = await serve(provider, [name]);
      await using remote = await serve(provider, [classifier('c')]);
      const masked = await local.check('request', ['I am alice']);
      await remote.post('/request', JSON.stringify({ body: masked.json.action?.['body'] }));
      expect(provider.seen).toHaveLength(2);
      expect(provider.seen[1]?.text).toContain('I am [name]');
      expect(provider.seen[1]?.text).not.toContain('alice');
    },
  );
});

describe('message boundaries', () => {
  verifies(
    ['guardrail:execution:stop-list-message-boundary', 'guardrail:execution:regex-message-boundary'],
    'no match spans two messages',
    async () => {
      const rules = [
        stopList('phrase', ['big secret']),
        stopList('token', ['hush now'], { match: 'token' }),
        regex('card', '4111[ ]?1111'),
      ];
      await using runtime = await startRuntime(bundleOf(rules));
      for (const [whole, parts] of [
        ['big secret', ['big', ' secret']],
        ['big secret', ['big ', 'secret']],
        ['hush now', ['hush ', 'now']],
        ['41111111', ['4111', '1111']],
      ] as const) {
        expect(outcome(await runtime.check('request', [whole]))).toEqual(denied);
        expect(outcome(await runtime.check('request', parts))).toEqual(pass);
        expect(outcome(await runtime.check('response', parts))).toEqual(pass);
      }
    },
  );
});

describe('overlapping replacements', () => {
  verifies(
    ['guardrail:execution:overlap-conflict', 'guardrail:errors:invalid-replacement'],
    'overlapping replacements with one text are merged, with different texts they fail; adjacent ones do not overlap',
    async () => {
      const rules = (one: string, two: string): BaselineRule[] => [
        masking(regex('one', 'abc'), one),
        masking(regex('two', 'cde|xyz'), two),
      ];
      await using same = await startRuntime(bundleOf(rules('#', '#')));
      await using different = await startRuntime(bundleOf(rules('#', '*')));
      const contentOf = (answer: RuntimeResponse): unknown => answer.json.action?.['body'];
      const one = (content: string): object => ({ messages: [{ role: 'user', content }] });
      expect(contentOf(await same.check('request', ['-abcde-']))).toEqual(one('-#-'));
      expect(contentOf(await same.check('request', ['abcxyz']))).toEqual(one('##'));
      expect(contentOf(await different.check('request', ['abcxyz']))).toEqual(one('#*'));
      expect(outcome(await different.check('request', ['-abcde-']))).toEqual(failed('invalid_replacement'));
      expect(outcome(await different.check('request', ['fine', 'abcde', 'abc']))).toEqual(
        failed('invalid_replacement'),
      );
    },
  );
});

describe('an observe rule', () => {
  verifies(
    ['guardrail:observe:no-block', 'guardrail:observe:no-change', 'guardrail:observe:firing-counted'],
    'an observe rule neither blocks nor changes a text; its matches are counted',
    async () => {
      await using provider = await startScriptedHttp(deny);
      const additional = [observed(word), observed(name), observed(detector('remote')), enforced(quiet)].map(
        (rule, index) => ({ ...rule, id: `r${index}` }),
      );
      await using runtime = await serve(provider, [stopList('other', ['never said'])], additional);
      for (const stage of ['request', 'response'] as const) {
        for (const mode of ['buffered', 'sse-reject']) {
          expect(outcome(await runtime.check(stage, ['forbidden alice'], { 'x-ap-gr-response-mode': mode }))).toEqual(
            pass,
          );
        }
        for (const rule of ['r0', 'r1', 'r2']) {
          await until(
            `${rule} is counted`,
            async () =>
              (await runtime.metric('portcullis_runtime_rule_firings_total', { rule, stage, mode: 'observe' })) === 2,
          );
        }
      }
      expect(await runtime.metric('portcullis_runtime_rule_firings_total', { rule: 'r3' })).toBe(0);
    },
  );

  verifies(
    ['guardrail:observe:error-counted'],
    'an error of an observe rule is counted and fails no check',
    async () => {
      await using provider = await startScriptedHttp(answers('broken', 500));
      await using runtime = await serve(provider, [quiet], [observed(detector('d')), observed(classifier('c'))]);
      for (let round = 0; round < 3; round += 1)
        expect(outcome(await runtime.check('request', ['hello']))).toEqual(pass);
      for (const rule of ['d', 'c']) {
        const labels = { rule, mode: 'observe', code: 'provider_unavailable' };
        await until(
          'the errors are counted',
          async () => (await runtime.metric('portcullis_runtime_rule_errors_total', labels)) === 3,
        );
      }
    },
  );

  test('an observe rule with a provider is not awaited, ends at its own timeout and uses no check slot', async () => {
    await using provider = await startScriptedHttp(silence);
    const limits = { ...defaultBundleLimits, maxConcurrency: 1 };
    const slow = { ...observed(detector('d')), timeoutMs: 30 };
    await using runtime = await startRuntime(
      bundleOf([quiet], [slow], { limits, providers: providersAt(provider.url) }),
    );
    for (let round = 0; round < 3; round += 1) expect(outcome(await runtime.check('request', ['hello']))).toEqual(pass);
    const labels = { rule: 'd', mode: 'observe', code: 'rule_timeout' };
    await until(
      'the time-outs are counted',
      async () => (await runtime.metric('portcullis_runtime_rule_errors_total', labels)) === 3,
    );
  });

  test('a provider of an observe rule is not called after a deny', async () => {
    await using provider = await startScriptedHttp(deny);
    await using runtime = await serve(provider, [word], [observed(detector('d'))]);
    expect(outcome(await runtime.check('request', ['forbidden']))).toEqual(denied);
    expect(outcome(await runtime.check('request', ['hello']))).toEqual(pass);
    await until('one question', () => provider.seen.length === 1);
    expect(provider.seen[0]?.text).toContain('hello');
  });

  test('an observe rule over the limit of concurrent provider calls counts as an error', async () => {
    await using provider = await startScriptedHttp(silence);
    await using runtime = await serve(provider, [quiet], [observed(detector('d'))]);
    const checks = await Promise.all(Array.from({ length: 30 }, () => runtime.check('request', ['hello'])));
    const more = await Promise.all(Array.from({ length: 30 }, () => runtime.check('request', ['hello'])));
    const rest = await Promise.all(Array.from({ length: 10 }, () => runtime.check('request', ['hello'])));
    for (const answer of [...checks, ...more, ...rest]) expect(outcome(answer)).toEqual(pass);
    expect(await runtime.metric('portcullis_runtime_overloads_total', { part: 'observers' })).toBe(6);
    expect(await runtime.metric('portcullis_runtime_rule_errors_total', { rule: 'd', code: 'overloaded' })).toBe(6);
  });
});

describe('time', () => {
  const withDeadline = (provider: ScriptedHttp, deadlineMs: number, timeoutMs: number, ...more: AdditionalRule[]) => {
    const rule = { ...detector('slow'), timeoutMs };
    const base = bundleOf([quiet], [enforced(rule), ...more], { providers: providersAt(provider.url) });
    const [only] = base.policies;
    const section = { ...only!.request, deadlineMs, baseline: [{ ...quiet, timeoutMs: 100 }] };
    return startRuntime({ ...base, policies: [{ ...only!, request: section, response: section }] });
  };

  verifies(
    ['guardrail:errors:rule-timeout', 'guardrail:fail-closed:timeout', 'guardrail:execution:mandatory-error-forbids'],
    'a mandatory rule over its own timeout is rule_timeout, also in a section with observe rules',
    async () => {
      await using provider = await startScriptedHttp(silence);
      await using runtime = await withDeadline(provider, 3_000, 40, { ...observed(word), timeoutMs: 100 });
      for (const stage of ['request', 'response'] as const) {
        expect(outcome(await runtime.check(stage, ['forbidden alice']))).toEqual(failed('rule_timeout'));
      }
      provider.play(allow);
      const completed = await until('a check within the time of the rule completes', async () => {
        const answer = await runtime.check('request', ['hello']);
        return answer.status === 200 ? answer : undefined;
      });
      expect(outcome(completed)).toEqual(pass);
    },
  );

  verifies(
    ['guardrail:errors:stage-timeout', 'guardrail:execution:stage-deadline-forbids'],
    'a check over the deadline of its stage is stage_timeout, also in a section with observe rules',
    async () => {
      await using provider = await startScriptedHttp(silence);
      await using runtime = await withDeadline(provider, 120, 120, { ...observed(word), timeoutMs: 100 });
      for (const stage of ['request', 'response'] as const) {
        expect(outcome(await runtime.check(stage, ['forbidden']))).toEqual(failed('stage_timeout'));
      }
      provider.play(allow);
      await until(
        'a check within the deadline completes',
        async () => (await runtime.check('request', ['hello'])).status === 200,
      );
    },
  );

  test('several rules that each stay within their timeout still fail at the deadline of the stage', async () => {
    await using provider = await startScriptedHttp(
      (response, asked) => void setTimeout(() => allow(response, asked), 450),
    );
    const slow = (id: string): AdditionalRule => ({ ...enforced(detector(id)), timeoutMs: 990 });
    await using runtime = await withDeadline(provider, 1_000, 990, slow('second'), slow('third'));
    expect(outcome(await runtime.check('request', ['hello']))).toEqual(failed('stage_timeout'));
  });

  test('the call to a provider is aborted when its timeout passes and when the client disconnects', async () => {
    let closed = 0;
    await using provider = await startScriptedHttp((response) => void response.on('close', () => (closed += 1)));
    await using runtime = await withDeadline(provider, 3_000, 40);
    expect(outcome(await runtime.check('request', ['hello']))).toEqual(failed('rule_timeout'));
    await until('the call is ended', () => closed === 1);
    await using patient = await withDeadline(provider, 4_000, 4_000);
    const gone = new AbortController();
    const call = fetch(`${patient.url}/request`, {
      method: 'POST',
      headers: Object.fromEntries(pairs(patient.headers())),
      body: '{"body":{"messages":[{"role":"user","content":"x"}]}}',
      signal: gone.signal,
    });
    await until('the provider is asked', () => provider.seen.length === 2);
    gone.abort();
    await expect(call).rejects.toThrow();
    await until('the call is ended', () => closed === 2);
  });
});

function* pairs(list: readonly string[]): Generator<[string, string]> {
  for (let index = 0; index < list.length; index += 2) yield [list[index] ?? '', list[index + 1] ?? ''];
}
