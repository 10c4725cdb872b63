const form = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

/** Whether a word can be an id of the management API: a UUID of version 7. */
export function isId(word: string): boolean {
  return form.test(word);
}
