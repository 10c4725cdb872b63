import type { Parameter } from './operation.ts';
import { type createCursors, longestCursor, readLimit } from './pages.ts';

const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** A UUID of any version in a path, read in lower case. */
export function uuidParameter(name: string, description: string): Parameter<never> {
  return {
    name,
    in: 'path',
    description,
    required: true,
    schema: { type: 'string', format: 'uuid' },
    read: (text) => (uuidForm.test(text) ? text.toLowerCase() : undefined),
  };
}

/** An optional header that is described without a bound: not every mode reads it, or an invalid value is replaced. */
export function headerParameter(name: string, description: string): Parameter<never> {
  return { name, in: 'header', description, required: false, schema: { type: 'string' } };
}

/** The header of a table whose `traceHeader` is `x-trace-id`. */
export const traceIdParameter = headerParameter(
  'X-Trace-Id',
  'The trace id of the answer, 1 to 128 visible ASCII characters; one is made without it.',
);

type Pages = {
  /** Name of the parameter for the size of a page, such as `limit`. */
  readonly size: string;
  readonly bounds: { readonly min: number; readonly max: number; readonly default: number };
  readonly cursors: ReturnType<typeof createCursors>;
};

/** The query parameters of a list in pages. */
export function pageParameters({ size, bounds, cursors }: Pages): readonly Parameter<never>[] {
  return [
    {
      name: size,
      in: 'query',
      description: 'Most entries of the page.',
      required: false,
      schema: { type: 'integer', minimum: bounds.min, maximum: bounds.max, default: bounds.default },
      read: (text) => (readLimit(text, bounds) === undefined ? undefined : text),
    },
    {
      name: 'page_token',
      in: 'query',
      description: 'next_page_token of the page before.',
      required: false,
      schema: { type: 'string', maxLength: longestCursor },
      read: cursors.read,
    },
  ];
}
