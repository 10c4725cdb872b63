import { expect, test } from 'vitest';
import { retrievalLimits } from '#contracts/retrieval';
import { readContent } from './read-content.ts';

const many = (count: number, item: object) => Array.from({ length: count }, () => item) as never;

test.each([
  [{}],
  [{ title: 'a', sections: [{ text: '' }, { heading: 'h', text: 'b' }], tables: [{ any: [1, null] }], more: { a: 1 } }],
  [{ sections: many(retrievalLimits.sections, { text: 'a' }) }],
  [{ tables: many(retrievalLimits.tables, {}) }],
])('valid content is accepted: %#', (content) => {
  expect(readContent(content as never)).toEqual({ kind: 'content', content });
});

test.each([
  [undefined, ''],
  [null, ''],
  [[], ''],
  ['text', ''],
  [{ title: 1 }, '/title'],
  [{ sections: {} }, '/sections'],
  [{ sections: [{ text: 'a' }, 'b'] }, '/sections/1'],
  [{ sections: [{ heading: 'a' }] }, '/sections/0/text'],
  [{ sections: [{ text: 'a', heading: 1 }] }, '/sections/0/heading'],
  [{ sections: [{ text: 'a', secret: 1 }] }, '/sections/0'],
  [{ sections: many(retrievalLimits.sections + 1, { text: 'a' }) }, '/sections'],
  [{ tables: 'x' }, '/tables'],
  [{ tables: [null] }, '/tables/0'],
  [{ tables: many(retrievalLimits.tables + 1, {}) }, '/tables'],
])('invalid content is refused with the path of its first fault: %#', (content, path) => {
  const reading = readContent(content as never);
  expect(reading).toMatchObject({ kind: 'fault', path });
  expect(JSON.stringify(reading)).not.toContain('secret');
});
