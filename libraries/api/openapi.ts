import { z } from 'zod';
import type { ApiOperation, ApiTable, Parameter } from './operation.ts';

/** The paths of an OpenAPI 3.1 document. Schemas, headers and the schema `Error` are references into its components. */
export function openApiPaths<Service, Caller, Code extends string>(
  table: ApiTable<Service, Caller, Code>,
): Record<string, Record<string, unknown>> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const operation of table.operations) {
    const { path, method } = operation;
    paths[path] = { ...paths[path], [method.toLowerCase()]: describeOperation(table, operation) };
  }
  return paths;
}

type DocumentParts = {
  /** Version of OpenAPI; 3.1.1 when absent. */
  readonly openapi?: '3.1.2';
  /** Address of the dialect of JSON Schema; the dialect of OpenAPI when absent. */
  readonly jsonSchemaDialect?: string;
  /** Further members of `info`; the name of each begins with `x-`. */
  readonly extensions?: Readonly<Record<`x-${string}`, string>>;
  readonly title: string;
  readonly version: string;
  readonly summary: string;
  readonly description: string;
  /** Description of the server that serves the paths. */
  readonly server: string;
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, unknown>>;
  /** Description of the bearer token; absent for a document without protected paths. */
  readonly token?: string;
  /** Headers of answers in addition to traceparent. */
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly schemas?: Readonly<Record<string, unknown>>;
};

/** An OpenAPI 3.1 document of a service. */
export function openApiDocument(parts: DocumentParts): unknown {
  const {
    openapi = '3.1.1',
    jsonSchemaDialect,
    title,
    version,
    summary,
    description,
    extensions,
    server,
    tags,
  } = parts;
  const { paths, token, headers, schemas } = parts;
  const described = {
    openapi,
    ...(jsonSchemaDialect === undefined ? {} : { jsonSchemaDialect }),
    info: {
      title,
      version,
      summary,
      description,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      ...extensions,
    },
    servers: [{ url: '/', description: server }],
    tags,
  };
  if (token === undefined) return { ...described, paths };
  const platformToken = { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: token };
  const traceparent = {
    description: 'The trace of the request (W3C Trace Context).',
    schema: { type: 'string' },
  };
  return {
    ...described,
    security: [{ platformToken: [] }],
    paths,
    components: { securitySchemes: { platformToken }, headers: { traceparent, ...headers }, schemas },
  };
}

function describeOperation<Service, Caller, Code extends string>(
  table: ApiTable<Service, Caller, Code>,
  {
    name,
    tag,
    summary,
    description,
    parameters,
    body,
    isBodyOptional,
    success,
    errors,
    public: isPublic,
    right,
  }: ApiOperation<Service, Caller, Code>,
) {
  const headers = ['traceparent', ...success.headers];
  return {
    operationId: name,
    tags: [tag],
    summary,
    description,
    ...(isPublic === true ? { security: [] } : {}),
    ...(right === undefined ? {} : { 'x-right': right }),
    parameters: parameters.map(describeParameter),
    ...(body === undefined ? {} : { requestBody: { required: isBodyOptional !== true, content: jsonContent(body) } }),
    responses: {
      [success.status]: {
        description: success.description,
        headers: Object.fromEntries(headers.map((header) => [header, reference('headers', header)])),
        content: jsonContent(success.schema),
      },
      ...(success.orAccepted === undefined ? {} : { 202: { description: success.orAccepted } }),
      ...errorResponses(table, [...errors, ...table.everyError]),
    },
  };
}

function describeParameter<Code extends string>({ read: _read, fault: _fault, ...described }: Parameter<Code>) {
  return described;
}

/** The OpenAPI responses of an operation: one for each status; its description lists the error codes. */
function errorResponses<Service, Caller, Code extends string>(
  { errors }: ApiTable<Service, Caller, Code>,
  codes: readonly Code[],
): Record<string, unknown> {
  const byStatus = Map.groupBy(new Set(codes), (code) => errors[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, list]) => [
      String(status),
      {
        description: list.map((code) => `${code}: ${errors[code].meaning}`).join('\n\n'),
        headers: { traceparent: reference('headers', 'traceparent') },
        content: jsonContent('Error'),
      },
    ]),
  );
}

function jsonContent(schema: string) {
  return { 'application/json': { schema: reference('schemas', schema) } };
}

function reference(kind: 'headers' | 'schemas', name: string) {
  return { $ref: `#/components/${kind}/${name}` };
}

/**
 * JSON Schema 2020-12 of named bodies, sorted by name, with references between them. A schema that is used in requests
 * and responses is described as in responses.
 */
export function componentSchemas(bodies: {
  readonly written: Readonly<Record<string, z.ZodType>>;
  readonly read: Readonly<Record<string, z.ZodType>>;
}): Readonly<Record<string, unknown>> {
  const all = { ...generate(bodies.written, 'input'), ...generate(bodies.read, 'output') };
  return Object.fromEntries(Object.entries(all).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function generate(schemas: Readonly<Record<string, z.ZodType>>, io: 'input' | 'output') {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(schemas)) registry.add(schema, { id });
  const { schemas: made } = z.toJSONSchema(registry, { io, uri: (id) => `#/components/schemas/${id}` });
  return Object.fromEntries(Object.entries(made).map(([id, schema]) => [id, cleaned(schema)]));
}

/** The schema without its own address, and without the long pattern of a date, which its format already states. */
function cleaned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(cleaned);
  if (typeof value !== 'object' || value === null) return value;
  const isDate = 'format' in value && value.format === 'date-time';
  const entries = Object.entries(value).filter(([key, inner]) => {
    // A property of that name is an object; the keyword is a string.
    if (key === '$schema' || key === '$id' || key === 'id') return typeof inner === 'object';
    return !(isDate && key === 'pattern');
  });
  return Object.fromEntries(entries.map(([key, inner]) => [key, cleaned(inner)]));
}
