import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { requestResultSchema, responseResultSchema } from '#contracts/checks';
import { denied, failed, type Masked, passed } from '../rules/decision.ts';
import { checkAnswer } from './check-answer.ts';

const schemas = { request: requestResultSchema, response: responseResultSchema } as const;
const message = (content: string, role = 'user') => ({ role, content });

describe('the answer to a decision', () => {
  test('the answer to every pass, deny and mask is a valid result of the contract', () => {
    const text = fc.string({ unit: 'grapheme' });
    const role = fc.string({ minLength: 1, maxLength: 32, unit: 'binary' }).filter((value) => value.isWellFormed());
    const checked = fc.array(fc.record({ role, content: text, masked: text }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(checked, fc.constantFrom('request', 'response'), (list, stage) => {
        const messages = list.map(({ role: own, content }) => message(content, own));
        const contents = list.map(({ masked }) => masked);
        for (const decision of [
          passed,
          denied('rule'),
          { kind: 'mask', contents, rules: ['rule'], inserted: [] } as const,
        ]) {
          const answer = checkAnswer(decision, { stage, messages, maxBodyBytes: 131_072 });
          if (answer.kind !== 'answer') throw new Error('every decision has an answer');
          const result = schemas[stage].parse(JSON.parse(answer.text));
          if (decision.kind !== 'mask') continue;
          const masked = list.map(({ role: own, masked: content }) => message(content, own));
          const body =
            stage === 'request' ? { messages: masked } : { choices: masked.map((each) => ({ message: each })) };
          expect(result.action).toEqual({ body, reason: 'content_redacted' });
        }
      }),
    );
  });

  test('the answer to a mask of a body without escapes is the same JSON', () => {
    const plain = fc.string({ unit: 'grapheme' }).filter((text) => !/["\\\p{Cc}]/u.test(text));
    const part = fc.record({ before: plain, inserted: fc.string({ unit: 'binary' }), after: plain });
    fc.assert(
      fc.property(part, fc.constantFrom('request', 'response'), ({ before, inserted, after }, stage) => {
        const messages = [message(before + after)];
        const masked: Masked = { kind: 'mask', contents: [before + inserted + after], rules: [], inserted: [inserted] };
        const source = Buffer.from(JSON.stringify({ body: { messages } }));
        const check = { stage, messages, maxBodyBytes: 131_072 };
        expect(checkAnswer(masked, { ...check, source })).toEqual(checkAnswer(masked, check));
      }),
      {
        examples: [
          [{ before: '', inserted: '"', after: '' }, 'request'],
          [{ before: '😀', inserted: '\ud83d', after: 'ё' }, 'response'],
        ],
      },
    );
  });

  test('a mask with another number of messages is never sent: the check fails with internal', () => {
    for (const contents of [[], ['a'], ['a', 'b', 'c']]) {
      const answer = checkAnswer(
        { kind: 'mask', contents, rules: [], inserted: [] },
        { stage: 'request', messages: [message('x'), message('y')], maxBodyBytes: 1_000 },
      );
      expect(answer).toEqual(failed('internal'));
    }
  });

  test('a failed decision is answered with its error code', () => {
    const failure = failed('rule_timeout', 'slow');
    expect(checkAnswer(failure, { stage: 'request', messages: [message('x')], maxBodyBytes: 1_000 })).toBe(failure);
  });
});
