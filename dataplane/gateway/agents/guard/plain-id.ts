const uuid = /^[0-9a-f]{8}(-?)[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{12}$/i;
const counter = /^\d{1,6}$/;

/**
 * Whether an id contains no text: a UUID with or without its hyphens, or a number of at most six digits, as SDKs count
 * messages.
 */
export function isPlainId(text: string): boolean {
  return uuid.test(text) || counter.test(text);
}
