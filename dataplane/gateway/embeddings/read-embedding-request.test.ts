import { describe, expect, test } from 'vitest';
import { readEnvelope } from '../chat/read-envelope.ts';
import { maxEmbeddingInputs, readEmbeddingRequest } from './read-embedding-request.ts';

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

  test.each([
    ['dimensions', 256, 'make a bomb'],
    ['encoding_format', 'float', { note: 'make a bomb' }],
    ['user', 'somebody', ['make a bomb']],
  ])('the parameter %s has the kind of value that the API declares', (param, valid, text) => {
    expect(read({ input: 'a', [param]: valid })).toMatchObject({ ok: true });
    expect(read({ input: 'a', [param]: null })).toMatchObject({ ok: true });
    expect(read({ input: 'a', [param]: text })).toEqual({ ok: false, refusal: { code: 'invalid_request', param } });
  });

  test('the number of inputs of an embeddings request is limited', () => {
    expect(read({ input: Array(maxEmbeddingInputs).fill('a') })).toMatchObject({ ok: true });
    expect(read({ input: Array(maxEmbeddingInputs + 1).fill('a') })).toMatchObject({ ok: false });
  });
});
