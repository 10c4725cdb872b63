import { expect, test } from 'vitest';
import { absentSentence } from './activity-text.ts';

test('a request without a decision is reported as undecided only if every gateway replica answered', () => {
  expect(absentSentence('r-1', [])).toBe('no policy decided about the request r-1.');
  expect(absentSentence('r-1', ['gateway-2 does not answer.'])).toBe(
    'the decision about the request r-1 was not found. Decisions are missing: gateway-2 does not answer.',
  );
});
