import { describe, expect, test } from 'vitest';
import { readEnvelope } from '../chat/read-envelope.ts';
import { batchUnits, maxEmbeddingInputs, readEmbeddingRequest } from './read-embedding-request.ts';

function read(body: object) {
  const envelope = readEnvelope(Buffer.from(JSON.stringify({ model: 'm', ...body })));
  return envelope.ok ? readEmbeddingRequest(envelope.value.root, new Set()) : envelope;
}

describe('the inputs of an embeddings request', () => {
  test('the inputs of an embeddings request are one string or a list of strings', () => {
    expect(read({ input: 'a' })).toMatchObject({ ok: true, value: [{ role: 'user', content: 'a' }] });
    expect(read({ input: ['a', ''] })).toMatchObject({ ok: true, value: [{ content: 'a' }, { content: '' }] });
  });

  test.each([
    ['tokens', { input: [1, 2] }, 'unsupported_value'],
    ['lists of tokens', { input: [[1, 2]] }, 'unsupported_value'],
    ['a string among tokens', { input: ['a', 1] }, 'unsupported_value'],
    ['none', { input: [] }, 'invalid_request'],
    ['nothing', {}, 'invalid_request'],
    ['an unknown key', { input: 'a', prompt: 'b' }, 'unknown_key'],
    ['a key in another case', { input: 'a', Input: 'b' }, 'ambiguous_key'],
  ])('inputs of an embeddings request are refused when they are %s', (_, body, code) => {
    expect(read(body)).toMatchObject({ ok: false, refusal: { code } });
  });

  test('the number of inputs is limited', () => {
    expect(read({ input: Array(maxEmbeddingInputs).fill('a') })).toMatchObject({ ok: true });
    expect(read({ input: Array(maxEmbeddingInputs + 1).fill('a') })).toMatchObject({ ok: false });
  });
});

describe('batches', () => {
  const unitsOf = (contents: readonly string[]) =>
    contents.map((content) => ({ role: 'user', content, place: { kind: 'absent' } as const }));
  const bodyBytes = (units: readonly { role: string; content: string }[]): number =>
    Buffer.byteLength(JSON.stringify({ body: { messages: units.map(({ role, content }) => ({ role, content })) } }));

  test('a batch has at most the messages of one check, in order', () => {
    const batches = batchUnits(unitsOf(['1', '2', '3', '4', '5']), { maxMessages: 2, maxBodyBytes: 1_000 });
    expect(batches.map((batch) => batch.map(({ content }) => content))).toEqual([['1', '2'], ['3', '4'], ['5']]);
  });

  test('a batch has at most the bytes of one check', () => {
    const units = unitsOf(['й"\n', 'b', 'c']);
    const bytes = bodyBytes(units);
    expect(batchUnits(units, { maxMessages: 9, maxBodyBytes: bytes })).toHaveLength(1);
    expect(batchUnits(units, { maxMessages: 9, maxBodyBytes: bytes - 1 }).map((batch) => batch.length)).toEqual([2, 1]);
  });

  test('an input too large for any check is a batch of its own', () => {
    const batches = batchUnits(unitsOf(['a', 'x'.repeat(500), 'b']), { maxMessages: 9, maxBodyBytes: 256 });
    expect(batches.map((batch) => batch.length)).toEqual([1, 1, 1]);
  });
});
