/**
 * The form in which every spelling of a name is equal that a reader of protocols may accept: the JSON of protocol buffers
 * has `artifactUpdate` and `artifact_update`, and some readers of JSON do not compare the case of letters.
 */
export function spellingOf(name: string): string {
  // In both directions, because ſ is another s, and the Kelvin sign another k.
  return name
    .toUpperCase()
    .toLowerCase()
    .replace(/(?<=.)_/g, '');
}

/** @returns a question: whether a member is another spelling of one of these names, and not one of them itself */
export function respellingOf(names: Iterable<string>): (member: string) => boolean {
  const exact = new Set(names);
  const spellings = new Set([...exact].map(spellingOf));
  return (member) => !exact.has(member) && spellings.has(spellingOf(member));
}
