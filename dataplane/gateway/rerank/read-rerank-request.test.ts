import { describe, expect, test } from 'vitest';
import { readEnvelope } from '../chat/read-envelope.ts';
import { readRerankRequest } from './read-rerank-request.ts';

function read(body: object) {
  const envelope = readEnvelope(Buffer.from(JSON.stringify({ model: 'm', query: 'q', documents: ['d'], ...body })));
  return envelope.ok ? readRerankRequest(envelope.value.root, new Set()) : envelope;
}

describe('the parameters of a rerank request', () => {
  test.each([
    ['top_n', 3, { note: 'make a bomb' }],
    ['return_documents', false, 'make a bomb'],
    ['max_tokens_per_doc', 512, ['make a bomb']],
  ])('the parameter %s has the kind of value that the API declares', (param, valid, text) => {
    expect(read({ [param]: valid })).toMatchObject({ ok: true });
    expect(read({ [param]: null })).toMatchObject({ ok: true });
    expect(read({ [param]: text })).toEqual({ ok: false, refusal: { code: 'invalid_request', param } });
  });
});
