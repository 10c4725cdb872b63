import { readChatRequest } from '../chat/read-chat-request.ts';
import { readRequestTexts } from '../judged/request-texts.ts';
import { isContractOnly } from '../judged/route-coverage.ts';
import { guardAnswer } from '../relay/guard-answer.ts';
import { chatStreamForm, PlainStream } from '../stream/plain-stream.ts';
import { StreamGuard } from '../stream/stream-guard.ts';
import { completeText, type TextApi } from './complete-text.ts';
import type { ClientResponse, RequestContext } from './request-context.ts';

const chatApi: TextApi = {
  path: '/chat/completions',
  isOptional: false,
  readRequest: readChatRequest,
  readTexts: readRequestTexts,
  guardWhole: guardAnswer,
  guardStream: (coverage, rename) => new StreamGuard(isContractOnly(coverage) ? undefined : coverage, rename),
  relayStream: (rename) => new PlainStream(chatStreamForm, rename),
  repeatsRequest: false,
  eventModel: ['model'],
};

/** POST /v1/chat/completions: checks the input, calls the provider, and checks the output. */
export function completeChat(context: RequestContext): Promise<ClientResponse> {
  return completeText(context, chatApi);
}
