import { answerCheck } from './answer-check.ts';
import type { Endpoint } from './runtime-service.ts';

/** POST /request: judges messages by the request section of the selected policy. */
export const postRequest: Endpoint = {
  path: '/request',
  methods: ['POST'],
  answer: (exchange, service) => answerCheck('request', exchange, service),
};
