import { answerCheck } from './answer-check.ts';
import type { Endpoint } from './runtime-service.ts';

/** POST /response: judges answer variants by the response section of the selected policy. */
export const postResponse: Endpoint = {
  path: '/response',
  methods: ['POST'],
  answer: (exchange, service) => answerCheck('response', exchange, service),
};
