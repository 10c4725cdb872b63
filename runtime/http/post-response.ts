import { answerCheck } from './answer-check.ts';
import type { Operation } from './runtime-service.ts';

/** POST /response: judges answer variants by the response section of the selected policy (document 1, section 4.3). */
export const postResponse: Operation = {
  path: '/response',
  methods: ['POST'],
  answer: (exchange, service) => answerCheck('response', exchange, service),
};
