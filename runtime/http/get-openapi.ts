import { readFileSync } from 'node:fs';
import { sendText } from './error-answer.ts';
import type { Endpoint } from './runtime-service.ts';

/** The frozen interface description, byte for byte as stored beside this file (`guardrail:versioning:openapi-3-1`). */
const document = readFileSync(new URL('./openapi.json', import.meta.url), 'utf8');

/** GET /openapi.json: the same document whatever bundle is loaded; needs no token at present. */
export const getOpenapi: Endpoint = {
  path: '/openapi.json',
  methods: ['GET', 'HEAD'],
  answer: ({ outgoing }) => sendText(outgoing, 200, document),
};
