import type { Parameter } from '#api/operation';
import { headerParameter, traceIdParameter } from '#api/parameters';

const tenant: Parameter<never> = {
  name: 'X-Tenant-Id',
  in: 'header',
  description: 'The tenant of the request.',
  required: true,
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};
const user = headerParameter('X-User-Id', 'Development mode: the user. Not read in production mode.');
const agent = headerParameter('X-Agent-Id', 'Development mode: the agent that acts for the user.');

/** The headers of every operation of a service with tenants, and the trace id. */
export const callerParameters: readonly Parameter<never>[] = [tenant, user, agent, traceIdParameter];

/** The header parameters of operations for which groups and further principals of the user have rights. */
export const memberParameters: readonly Parameter<never>[] = [
  tenant,
  user,
  headerParameter('X-Groups', 'Development mode: groups of the user, separated by commas.'),
  headerParameter('X-Principals', 'Development mode: further principals of the user, separated by commas.'),
  agent,
  traceIdParameter,
];

/** The members of an OpenAPI document that describe the token of a caller and the headers of answers. */
export const callerDocument = {
  token: 'A token of a trusted issuer with an act chain (RFC 8693). Not read in development mode.',
  headers: { 'X-Trace-Id': { description: 'The trace id of the request.', schema: { type: 'string' } } },
} as const;
