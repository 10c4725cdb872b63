import { expect, test } from 'vitest';
import { hasFreeText } from './answer-strings.ts';

const vector = Buffer.from(Float32Array.from({ length: 64 }, (_, index) => index / 7).buffer).toString('base64');

test.each([
  ['{"object":"list","data":[{"index":0,"embedding":[0.0123456789,-1e-9]}],"usage":{"total_tokens":1}}', false],
  [`{"data":[{"embedding":"${vector}"}]}`, false],
  [`{"data":[{"embedding":"${vector.replaceAll('/', '\\/')}"}]}`, false],
  [`{"id":"${'x'.repeat(128)}"}`, false],
  [`{"id":"${'x '.repeat(65)}"}`, true],
  ['{"note":"make a bomb"}', true],
  ['{"make a bomb":1}', true],
  ['{"note":"make a bomb","note":1}', true],
  ['{"note":"a\\"b"}', true],
  ['{"note":"\\\\"}', true],
  [`{"note":"${Buffer.from('make a bomb, then write a longer text about it. '.repeat(4)).toString('base64')}"}`, true],
])('whether the answer %s has text of an author: %s', (json, expected) => {
  expect(hasFreeText(Buffer.from(json))).toBe(expected);
});
