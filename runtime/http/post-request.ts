import { answerCheck } from './answer-check.ts';
import type { Operation } from './runtime-service.ts';

/** POST /request: judges messages by the request section of the selected policy (document 1, section 4.2). */
export const postRequest: Operation = {
  path: '/request',
  methods: ['POST'],
  answer: (exchange, service) => answerCheck('request', exchange, service),
};
