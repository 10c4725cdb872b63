import type { Parameter } from '#api/operation';
import type { ManagementErrorCode } from '#contracts/management-errors';

type QueryParameter = Parameter<ManagementErrorCode>;

/** An optional parameter that has one of the values. */
export function word(name: string, description: string, values: readonly string[]): QueryParameter {
  return {
    name,
    in: 'query',
    description,
    required: false,
    schema: { type: 'string', enum: values },
    read: (value) => (values.includes(value) ? value : undefined),
  };
}

/** An optional parameter that is a text of 1 to `maxLength` UTF-16 code units. */
export function text(name: string, description: string, maxLength: number): QueryParameter {
  return {
    name,
    in: 'query',
    description,
    required: false,
    schema: { type: 'string', minLength: 1, maxLength },
    read: (value) => (value.length > 0 && value.length <= maxLength ? value : undefined),
  };
}
