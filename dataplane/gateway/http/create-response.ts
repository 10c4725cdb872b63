import { guardResponse } from '../relay/guard-response.ts';
import { responsesStreamForm } from '../responses/plain-responses.ts';
import { readResponsesRequest, readResponsesTexts } from '../responses/read-responses-request.ts';
import { ResponseGuard } from '../responses/response-guard.ts';
import { PlainStream } from '../stream/plain-stream.ts';
import { completeText, type TextApi } from './complete-text.ts';
import type { ClientResponse, RequestContext } from './request-context.ts';

const responsesApi: TextApi = {
  path: '/responses',
  isOptional: true,
  readRequest: readResponsesRequest,
  readTexts: readResponsesTexts,
  guardWhole: guardResponse,
  guardStream: (coverage, rename) => new ResponseGuard(coverage, rename),
  relayStream: (rename) => new PlainStream(responsesStreamForm, rename),
  repeatsRequest: true,
  eventModel: ['response', 'model'],
};

/** POST /v1/responses: checks the input, calls the provider, and checks the output (docs/design/responses.md). */
export function createResponse(context: RequestContext): Promise<ClientResponse> {
  return completeText(context, responsesApi);
}
