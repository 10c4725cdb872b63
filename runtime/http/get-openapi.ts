import { readFileSync } from 'node:fs';
import { sendText } from './error-answer.ts';
import type { Operation } from './runtime-service.ts';

/** The frozen interface description, byte for byte as it lies beside this file (document 1, section 9). */
const document = readFileSync(new URL('./openapi.json', import.meta.url), 'utf8');

/** GET /openapi.json: the same document whatever bundle is loaded; needs no token at present. */
export const getOpenapi: Operation = {
  path: '/openapi.json',
  methods: ['GET', 'HEAD'],
  answer: ({ outgoing }) => sendText(outgoing, 200, document),
};
