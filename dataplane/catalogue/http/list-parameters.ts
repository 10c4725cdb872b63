import type { Parameter } from '#api/operation';
import { readLimit } from '#api/pages';
import { headerParameter } from '#api/parameters';
import { agentProtocols, agentStates, catalogueLimits, implementationTypes, ownerTypes } from '#contracts/catalogue';
import type { CatalogueErrorCode } from '#contracts/catalogue-errors';

const { name: longest, pageSize, cursorLength } = catalogueLimits;

type Filter = Parameter<CatalogueErrorCode>;

/** A text without U+0000, which PostgreSQL cannot store. */
const named = (name: string, description: string): Filter => ({
  name,
  in: 'query',
  description,
  required: false,
  schema: { type: 'string', minLength: 1, maxLength: longest, pattern: '^[^\\u0000]*$' },
  read: (text) => (text !== '' && text.length <= longest && !text.includes('\0') ? text : undefined),
});

const oneOf = (name: string, description: string, values: readonly string[]): Filter => ({
  name,
  in: 'query',
  description,
  required: false,
  schema: { type: 'string', enum: [...values] },
  read: (text) => (values.includes(text) ? text : undefined),
});

/** The filters of a list; all that are sent must hold. */
export const filterParameters: readonly Filter[] = [
  named('workspaceId', 'Agents of this workspace.'),
  oneOf('protocol', 'Agents of this protocol.', agentProtocols),
  oneOf('implementationType', 'Agents of this type.', implementationTypes),
  oneOf('state', 'Agents in this state; active when absent. No degraded agent is ever returned.', agentStates),
  oneOf('ownerType', 'Agents whose owner is of this type.', ownerTypes),
  named('ownerIssuer', 'Agents whose owner has tokens of this issuer.'),
  named('ownerSubject', 'Agents whose owner has this subject.'),
];

export const pageParametersOfList: readonly Filter[] = [
  {
    name: 'limit',
    in: 'query',
    description: 'Most records of the page.',
    required: false,
    schema: { type: 'integer', minimum: pageSize.min, maximum: pageSize.max, default: pageSize.default },
    read: (text) => (readLimit(text, pageSize) === undefined ? undefined : text),
  },
  {
    name: 'cursor',
    in: 'query',
    description: 'nextCursor of the page before, with the same filters; valid for one hour.',
    required: false,
    schema: { type: 'string', minLength: 1, maxLength: cursorLength, pattern: '^[A-Za-z0-9_-]+$' },
    fault: 'cursor_invalid',
  },
];

/** The headers of every operation with rights. */
export const personParameters: readonly Parameter<never>[] = [
  headerParameter('X-Tenant-Id', 'One of the tenants of the token, whose groups count; not needed if it has only one.'),
];
