import { z } from 'zod';

/** The limit of a page; undefined when it is not an integer between the bounds. */
export function readLimit(
  text: string | undefined,
  bounds: { readonly min: number; readonly max: number; readonly default: number },
): number | undefined {
  if (text === undefined) return bounds.default;
  const limit = /^[1-9]\d{0,8}$/.test(text) ? Number(text) : Number.NaN;
  return limit >= bounds.min && limit <= bounds.max ? limit : undefined;
}

/** Longest cursor: the base64url form of a key of 1,024 bytes, each of which JSON may write as six characters. */
export const longestCursor = 8_300;

/**
 * Cursors of one list. A cursor names the last entry of a page, so that it is valid on every replica; it is neither
 * encrypted nor authenticated and must contain only data that the caller knows.
 * @param list names the list and the version of its cursors: a cursor of another list is invalid
 * @param key the sort key of the entries: UUIDs of version 7 if absent
 */
export function createCursors(list: string, key: z.ZodType<string> = z.uuidv7()) {
  const schema = z.tuple([z.literal(list), key]);

  function write(after: string): string {
    return Buffer.from(JSON.stringify([list, after])).toString('base64url');
  }

  /** The key after which the next page begins; undefined where the text is not a cursor of this list. */
  function read(text: string): string | undefined {
    if (text.length > longestCursor || !/^[A-Za-z0-9_-]+$/.test(text)) return undefined;
    try {
      const parsed = schema.safeParse(JSON.parse(Buffer.from(text, 'base64url').toString('utf8')));
      return parsed.success && write(parsed.data[1]) === text ? parsed.data[1] : undefined;
    } catch {
      return undefined;
    }
  }

  return { write, read };
}
