import { expect, test } from 'vitest';
import { escapeControls } from './write.ts';

test.each([
  ['a sequence that clears a line', 'a\u001b[2Kb', 'a\\x1b[2Kb'],
  ['a carriage return', 'a\rb', 'a\\x0db'],
  ['a control character of C1', 'a\u009bb', 'a\\x9bb'],
  ['lines, tabs and letters of any language', 'один\tдва\nthree', 'один\tдва\nthree'],
])('control characters of values are written as codes: %s', (_name, text, written) => {
  expect(escapeControls(text)).toBe(written);
});
