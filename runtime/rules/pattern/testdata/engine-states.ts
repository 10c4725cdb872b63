/** The number of states, and byte classes, that RE2 itself builds for a pattern. */
type EngineStates = {
  readonly pattern: string;
  /** Number of states in a set of this pattern alone. */
  readonly many: readonly [states: number, classes: number];
  /** Number of states in the leftmost-first search. */
  readonly first: readonly [states: number, classes: number];
};

/**
 * Counted by RE2 2025-11-05 itself: Prog::BuildEntireDFA with kManyMatch on Prog::CompileSet (unanchored), and with
 * kFirstMatch on Regexp::CompileToProg, with enough memory. It counts states that only the end of the text leads to.
 */
export const ENGINE_STATES: readonly EngineStates[] = [
  { pattern: '[a-zA-Z0-9._%+-]+@[a-zA-Z0-9.-]+\\.[a-zA-Z]{2,}', many: [14, 6], first: [14, 6] },
  { pattern: '(?i)ignore (all|any|the)? ?(previous|prior) instructions', many: [44, 20], first: [42, 20] },
  { pattern: 'eyJ[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+', many: [40, 6], first: [20, 6] },
  { pattern: 'AKIA[0-9A-Z]{16}', many: [3618, 5], first: [1686, 5] },
  { pattern: 'ghp_[A-Za-z0-9]{36}', many: [152, 6], first: [144, 6] },
  {
    pattern: '\\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\\b',
    many: [41, 4],
    first: [40, 4],
  },
  {
    pattern: '\\b(?:(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)\\.){3}(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)\\b',
    many: [33, 8],
    first: [31, 8],
  },
  { pattern: '\\+?7[ -]?\\(?\\d{3}\\)?[ -]?\\d{3}[ -]?\\d{2}[ -]?\\d{2}', many: [4131, 7], first: [1044, 7] },
  { pattern: '\\b[A-Z]{2}\\d{2}[ ]?(?:[A-Z0-9]{4}[ ]?){2,7}[A-Z0-9]{1,4}\\b', many: [1195, 5], first: [256, 5] },
  { pattern: '\\b\\d{3}-\\d{2}-\\d{4}\\b', many: [16, 4], first: [15, 4] },
  { pattern: '(?i)пароль\\s*[:=]\\s*\\S+', many: [48, 21], first: [30, 21] },
  { pattern: '[\\w.+-]+@[\\w-]+\\.[\\w.-]+', many: [11, 5], first: [8, 5] },
  { pattern: '(?i)do anything now|DAN mode|jailbreak', many: [36, 22], first: [33, 22] },
];
