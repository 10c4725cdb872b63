import { z } from 'zod';

const cursorSchema = z.tuple([z.literal('guardrail-policies/v1'), z.uuidv7()]);

/** The cursor behind the policy of this id. It names a place in the order of ids, so it holds on every replica. */
export function writeCursor(afterId: string): string {
  return Buffer.from(JSON.stringify(['guardrail-policies/v1', afterId])).toString('base64url');
}

/** The id behind which the next page begins; undefined where the text is no cursor of ours. */
export function readCursor(text: string): string | undefined {
  if (!/^[A-Za-z0-9_-]{1,256}$/.test(text)) return undefined;
  try {
    const parsed = cursorSchema.safeParse(JSON.parse(Buffer.from(text, 'base64url').toString('utf8')));
    return parsed.success && writeCursor(parsed.data[1]) === text ? parsed.data[1] : undefined;
  } catch {
    return undefined;
  }
}
