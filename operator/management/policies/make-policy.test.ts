import { expect, test } from 'vitest';
import { objectNamesFor } from './make-policy.ts';

const id = '01990000-0000-7000-8000-0000000000ff';

test.each([
  ['Secrets', ['secrets', 'secrets-000000ff', `p-${id}`]],
  ['card_numbers.v2', ['card-numbers.v2', 'card-numbers.v2-000000ff', `p-${id}`]],
  ['Ends-', ['ends', 'ends-000000ff', `p-${id}`]],
  ['two..dots', [`p-${id}`]],
])('a policy with the display name %s gets the first free name of %j', (displayName, names) => {
  expect(objectNamesFor(id, displayName)).toEqual(names);
});
