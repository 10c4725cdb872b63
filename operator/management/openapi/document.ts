import { managementContract } from '#contracts/management';
import { type ManagementErrorCode, managementErrors } from '#contracts/management-errors';
import { everyError, type OperationText, operationTexts } from './operations.ts';
import { componentSchemas } from './schemas.ts';

/** Where the document of the ten routes is served, and where that of everything else. */
export const managementDocumentPath = '/api/v1/guardrail-management/openapi.json';
export const commonDocumentPath = '/openapi.json';

const licence = { name: 'Apache-2.0', identifier: 'Apache-2.0' };

/** The OpenAPI document of the contract platform.control-plane.guardrail-management/v1 (document 3, section 9). */
export function managementDocument(): unknown {
  return {
    openapi: '3.1.1',
    info: {
      title: 'Guardrail policy management',
      version: managementContract,
      summary: 'Policies, their history, and their application to models.',
      description:
        'Saving a policy creates a version and enables nothing. Applying a version to a model is a command of its own. ' +
        'Commands answer 202 with an operation: wait until it is final, then read the resource again.',
      license: licence,
    },
    servers: [{ url: '/', description: 'The control plane.' }],
    tags: [
      { name: 'Models', description: 'The guardrail bindings of models.' },
      { name: 'Operations', description: 'Commands and how far they got.' },
      { name: 'Policies', description: 'Policies and their versions.' },
      { name: 'Providers', description: 'Approved external checks.' },
    ],
    security: [{ platformToken: [] }],
    paths: pathsOf(Object.entries(operationTexts)),
    components: {
      securitySchemes: {
        platformToken: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'The platform token of a subject with control_plane:control-plane#administer.',
        },
      },
      headers: {
        traceparent: { description: 'The trace of the request (W3C Trace Context).', schema: { type: 'string' } },
        ETag: {
          description: 'A strong tag for If-Match; it does not move with what is observed.',
          schema: { type: 'string' },
        },
        Location: { description: 'The address of the operation.', schema: { type: 'string', format: 'uri-reference' } },
      },
      schemas: componentSchemas(),
    },
  };
}

/** The document of what the control plane serves besides; the routes of the contract above are no part of it. */
export function commonDocument(): unknown {
  const document = (path: string, summary: string, operationId: string) => ({
    get: {
      operationId,
      summary,
      description: 'An OpenAPI 3.1 document.',
      tags: ['Documents'],
      security: [],
      responses: {
        '200': {
          description: 'The document.',
          content: { 'application/json': { schema: { type: 'object' } } },
        },
        '405': { description: `${path} answers to GET alone.` },
      },
    },
  });
  return {
    openapi: '3.1.1',
    info: {
      title: 'Portcullis control plane',
      version: '1',
      summary: 'What the control plane serves beside its contracts.',
      description: `Contracts have documents of their own: ${managementDocumentPath}.`,
      license: licence,
    },
    servers: [{ url: '/', description: 'The control plane.' }],
    tags: [{ name: 'Documents', description: 'Descriptions of interfaces.' }],
    paths: {
      [commonDocumentPath]: document(commonDocumentPath, 'Read this document', 'getCommonDocument'),
      [managementDocumentPath]: document(
        managementDocumentPath,
        'Read the document of the policy management API',
        'getManagementDocument',
      ),
    },
  };
}

function pathsOf(operations: readonly (readonly [string, OperationText])[]): Record<string, Record<string, unknown>> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const [name, text] of operations) {
    paths[text.path] = { ...paths[text.path], [text.method]: operationOf(name, text) };
  }
  return paths;
}

function operationOf(operationId: string, text: OperationText) {
  const { tag, summary, description, parameters, body, answer, errors } = text;
  const headers = {
    traceparent: { $ref: '#/components/headers/traceparent' },
    ...(answer.etag ? { ETag: { $ref: '#/components/headers/ETag' } } : {}),
    ...(answer.status === 202 ? { Location: { $ref: '#/components/headers/Location' } } : {}),
  };
  return {
    operationId,
    tags: [tag],
    summary,
    description,
    parameters,
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: { 'application/json': { schema: schemaRef(body) } } } }),
    responses: {
      [answer.status]: {
        description: answer.status === 202 ? 'The command was accepted.' : 'What was asked for.',
        headers,
        content: { 'application/json': { schema: schemaRef(answer.schema) } },
      },
      ...errorResponses([...errors, ...everyError]),
    },
  };
}

/** One response for each status, which names its codes. */
function errorResponses(codes: readonly ManagementErrorCode[]): Record<string, unknown> {
  const byStatus = new Map<number, ManagementErrorCode[]>();
  for (const code of new Set(codes)) {
    const { status } = managementErrors[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus]
      .toSorted(([a], [b]) => a - b)
      .map(([status, list]) => [
        String(status),
        {
          description: list.map((code) => `${code}: ${managementErrors[code].meaning}`).join('\n\n'),
          headers: { traceparent: { $ref: '#/components/headers/traceparent' } },
          content: { 'application/json': { schema: schemaRef('Error') } },
        },
      ]),
  );
}

function schemaRef(name: string) {
  return { $ref: `#/components/schemas/${name}` };
}
