import { z } from 'zod';

/** The limit of a page; undefined when it is not an integer within the bounds. */
export function readLimit(
  text: string | undefined,
  bounds: { readonly min: number; readonly max: number; readonly default: number },
): number | undefined {
  if (text === undefined) return bounds.default;
  const limit = /^[1-9]\d{0,8}$/.test(text) ? Number(text) : Number.NaN;
  return limit >= bounds.min && limit <= bounds.max ? limit : undefined;
}

/**
 * Cursors of one list whose entries are ordered by UUIDs of version 7. A cursor names the last entry of a page, so that
 * it is valid on every replica; it is neither encrypted nor authenticated and must contain only data that the caller
 * knows. @param list names the list and the version of its cursors: a cursor of another list is invalid
 */
export function createCursors(list: string) {
  const schema = z.tuple([z.literal(list), z.uuidv7()]);

  function write(afterId: string): string {
    return Buffer.from(JSON.stringify([list, afterId])).toString('base64url');
  }

  /** The id after which the next page begins; undefined where the text is not a cursor of this list. */
  function read(text: string): string | undefined {
    if (!/^[A-Za-z0-9_-]{1,256}$/.test(text)) return undefined;
    try {
      const parsed = schema.safeParse(JSON.parse(Buffer.from(text, 'base64url').toString('utf8')));
      return parsed.success && write(parsed.data[1]) === text ? parsed.data[1] : undefined;
    } catch {
      return undefined;
    }
  }

  return { write, read };
}
