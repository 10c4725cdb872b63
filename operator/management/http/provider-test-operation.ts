import { type ApiOperation, success } from '#api/operation';
import type { ManagementErrorCode } from '#contracts/management-errors';
import type { ManagementCaller } from '../access/management-caller.ts';
import type { Management } from './management.ts';

/** A route outside of the contract: every gateway replica tests the provider of a model, with its own credential. */
export const providerTestOperation: ApiOperation<Management, ManagementCaller, ManagementErrorCode, 'testProvider'> = {
  name: 'testProvider',
  method: 'POST',
  path: '/api/v1/provider-test',
  tag: 'Providers',
  summary: 'Test the provider of a model',
  description:
    'Every gateway replica tests the provider of an alias that it serves: credential, DNS, TCP, TLS, the list of models ' +
    'and the name of the model. No prompt is sent. missing names the replicas without a result.',
  gates: ['identity', 'query'],
  parameters: [
    {
      name: 'alias',
      in: 'query',
      description: 'The alias of the model.',
      required: true,
      schema: { type: 'string', minLength: 1, maxLength: 128 },
      read: (value) => (value.length > 0 && value.length <= 128 ? value : undefined),
    },
  ],
  success: { status: 200, description: 'What was asked for.', schema: 'ProviderTests', headers: [] },
  errors: [],
  obligations: [],
  run: async ({ service, query }) => success(await service.providerTests.test(query['alias'] ?? '')),
};
