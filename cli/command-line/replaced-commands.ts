/** Commands of earlier versions and of other tools, each with the command that replaces it. */
const replacements: Readonly<Record<string, string>> = {
  policy: 'get guardrailpolicies',
  'policy list': 'get guardrailpolicies',
  'policy get': 'get guardrailpolicy NAME',
  'policy describe': 'describe guardrailpolicy NAME',
  'policy create': 'apply -f FILE',
  'policy update': 'apply -f FILE',
  'policy apply': 'apply -f FILE',
  'policy delete': 'delete guardrailpolicy NAME',
  'policy archive': 'archive POLICY',
  'policy restore': 'unarchive POLICY',
  'policy history': 'history POLICY',
  'policy revisions': 'history POLICY',
  'policy diff': 'diff POLICY',
  'policy test': 'test -f FILE',
  binding: 'get modelbindings',
  'binding list': 'get modelbindings',
  'binding get': 'get modelbinding NAME',
  'binding create': 'apply -f FILE',
  'binding apply': 'apply-revision BINDING REVISION',
  'binding delete': 'delete modelbinding NAME',
  'binding history': 'history binding/NAME',
  'binding reapply': 'reapply BINDING',
  'binding rollback': 'rollback BINDING',
  'binding unbind': 'unbind BINDING',
  start: 'up',
  list: 'get KIND',
  ls: 'get KIND',
  show: 'describe KIND NAME',
  create: 'apply -f FILE',
  update: 'apply -f FILE',
  rm: 'delete KIND NAME',
  remove: 'delete KIND NAME',
  validate: 'test -f FILE',
  lint: 'test -f FILE',
};

type Replacement = {
  /** The words that are replaced. */
  readonly words: string;
  readonly by: string;
};

/** The command that replaces the first words of a command line; undefined if they were never a command. */
export function replacementOf(typed: readonly string[]): Replacement | undefined {
  const [first = '', second = ''] = typed;
  const words = [`${first} ${second}`, first].find((one) => Object.hasOwn(replacements, one));
  const by = words === undefined ? undefined : replacements[words];
  if (words === undefined || by === undefined) return undefined;
  return { words, by: filled(by, typed.slice(words.split(' ').length)) };
}

/** A word in capitals, which is a placeholder for a word of the reader. */
const slot = /\b[A-Z]{2,}\b/g;
/** A word that needs no quotes and is no option. */
const plainWord = /^[\w.][\w./:-]{0,59}$/;

/** The replacement with the words of the user, or unchanged if the words are too many or not all plain. */
function filled(by: string, rest: readonly string[]): string {
  const slots = by.match(slot) ?? [];
  if (rest.length > slots.length || !rest.every((word) => plainWord.test(word))) return by;
  let at = 0;
  return by.replace(slot, (name) => rest[at++] ?? name);
}
