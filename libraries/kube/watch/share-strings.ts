/** Strings that are remembered at a time; far more than the values that objects of a namespace have in common. */
const maxRemembered = 4_096;
/** `JSON.parse` of V8 shares shorter strings itself. */
const minLength = 11;
/** Longest string that is shared: a longer string is content of one object. */
const maxLength = 512;

/**
 * Replaces strings of an object by equal strings of earlier objects, in place. A binding and its route hold the same
 * digest four times, and the conditions of all bindings the same messages: stored objects take a third less memory.
 */
export function shareStrings<T extends object>(value: T): T {
  const members = value as Record<string, unknown>;
  for (const name in members) {
    const member = members[name];
    if (typeof member === 'string') {
      if (member.length >= minLength && member.length <= maxLength) members[name] = shared(member);
    } else if (typeof member === 'object' && member !== null) shareStrings(member);
  }
  return value;
}

/** Only the newest `maxRemembered` values are kept; a repeated value counts as new. */
let older = new Map<string, string>();
let newer = new Map<string, string>();

function shared(text: string): string {
  const known = newer.get(text);
  if (known !== undefined) return known;
  const kept = older.get(text) ?? text;
  if (newer.size >= maxRemembered / 2) {
    older = newer;
    newer = new Map();
  }
  newer.set(kept, kept);
  return kept;
}
