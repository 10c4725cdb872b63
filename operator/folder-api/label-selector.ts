import { ApiRefusal } from './api-refusal.ts';

type Labels = Readonly<Record<string, string>>;
type LabelSelector = (labels: Labels | undefined) => boolean;

const key = '[A-Za-z0-9][A-Za-z0-9._/-]*';
const value = '[A-Za-z0-9._-]*';
const equality = new RegExp(`^(${key})\\s*(==|=|!=)\\s*(${value})$`);
const membership = new RegExp(`^(${key})\\s+(in|notin)\\s*\\(([^()]*)\\)$`);
const existence = new RegExp(`^(!?)\\s*(${key})$`);

/** Parses a label selector of the Kubernetes API; an absent or empty selector matches all objects. */
export function parseLabelSelector(text: string | undefined): LabelSelector {
  const terms = splitTerms(text ?? '').map(parseTerm);
  return (labels) => terms.every((term) => term(labels ?? {}));
}

/** Splits a label selector at the commas outside of parentheses. */
function splitTerms(text: string): readonly string[] {
  return text
    .split(/,(?![^(]*\))/)
    .map((term) => term.trim())
    .filter((term) => term !== '');
}

function parseTerm(term: string): (labels: Labels) => boolean {
  const equal = equality.exec(term);
  if (equal !== null) {
    const [, name = '', operator, wanted] = equal;
    return operator === '!=' ? (labels) => read(labels, name) !== wanted : (labels) => read(labels, name) === wanted;
  }
  const member = membership.exec(term);
  if (member !== null) {
    const [, name = '', operator, list = ''] = member;
    const values = new Set(list.split(',').map((one) => one.trim()));
    if (operator === 'in') return (labels) => values.has(read(labels, name) ?? '\0');
    return (labels) => !values.has(read(labels, name) ?? '\0');
  }
  const exists = existence.exec(term);
  if (exists === null) throw new ApiRefusal('BadRequest', 'unable to parse the labelSelector');
  const [, not, name = ''] = exists;
  return (labels) => (read(labels, name) === undefined) === (not === '!');
}

function read(labels: Labels, name: string): string | undefined {
  return Object.hasOwn(labels, name) ? labels[name] : undefined;
}
