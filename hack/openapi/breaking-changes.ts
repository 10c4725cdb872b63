type Json = Readonly<Record<string, unknown>>;

const methods = ['get', 'put', 'post', 'delete', 'patch', 'head', 'options'];

/**
 * The incompatible differences between two OpenAPI documents, each as a place and a sentence: a property on which a
 * client of the former document relies and which the present document does not have
 * (`catalogue:compatibility:incompatible-change`). Added paths, optional parameters, response members and error codes
 * are compatible.
 */
export function breakingChanges(former: Json, present: Json): readonly string[] {
  const found: string[] = [];
  const [was, is] = [member(former, 'paths'), member(present, 'paths')];
  for (const [path, item] of Object.entries(was)) {
    for (const method of methods.filter((name) => name in (item as Json))) {
      const place = `${method.toUpperCase()} ${path}`;
      const [before, now] = [member(item as Json, method), optional(optional(is, path), method)];
      if (now === undefined) found.push(`${place}: is gone`);
      else found.push(...operationChanges(place, before, now));
    }
  }
  const [schemas, others] = [member(former, 'components', 'schemas'), member(present, 'components', 'schemas')];
  for (const [name, schema] of Object.entries(schemas)) {
    const now = optional(others, name);
    if (now === undefined) found.push(`schema ${name}: is gone`);
    else found.push(...schemaChanges(`schema ${name}`, schema as Json, now, name.endsWith('Request')));
  }
  if (JSON.stringify(former['security']) !== JSON.stringify(present['security'])) found.push('security: differs');
  return found;
}

function operationChanges(place: string, before: Json, now: Json): readonly string[] {
  const found: string[] = [];
  // The right of an operation is a part of its contract. A release without `x-right` promised no right.
  if (JSON.stringify(before['security']) !== JSON.stringify(now['security'])) found.push(`${place}: security differs`);
  if (before['x-right'] !== undefined && before['x-right'] !== now['x-right']) found.push(`${place}: x-right differs`);
  const parameters = (of: Json) => new Map(list(of['parameters']).map((one) => [`${one['in']} ${one['name']}`, one]));
  const [had, has] = [parameters(before), parameters(now)];
  for (const [name, one] of had) {
    const other = has.get(name);
    if (other === undefined) found.push(`${place}: parameter ${name} is gone`);
    else {
      if (one['required'] !== true && other['required'] === true) found.push(`${place}: parameter ${name} is required`);
      found.push(...schemaChanges(`${place}: parameter ${name}`, member(one, 'schema'), member(other, 'schema'), true));
    }
  }
  for (const [name, one] of has) {
    if (!had.has(name) && one['required'] === true) found.push(`${place}: parameter ${name} is new and required`);
  }
  // The schema of a body is compared by its name only; the schema with this name is compared together with the other
  // schemas.
  if (contentOf(optional(before, 'requestBody')) !== contentOf(optional(now, 'requestBody'))) {
    found.push(`${place}: the body differs`);
  }
  const [answers, others] = [member(before, 'responses'), member(now, 'responses')];
  for (const [status, answer] of Object.entries(answers)) {
    const other = optional(others, status);
    if (other === undefined) {
      found.push(`${place}: status ${status} is gone`);
      continue;
    }
    if (contentOf(answer as Json) !== contentOf(other)) found.push(`${place}: the body of status ${status} differs`);
    for (const name of Object.keys(member(answer as Json, 'headers'))) {
      if (!(name in member(other, 'headers'))) found.push(`${place}: header ${name} of status ${status} is gone`);
    }
  }
  return found;
}

function contentOf(of: Json | undefined): string {
  return JSON.stringify(of?.['content'] ?? null);
}

/**
 * Keywords that are judged separately, and keywords that promise nothing. A change of any other keyword is
 * incompatible.
 */
const judged: ReadonlySet<string> = new Set([
  ...['type', 'format', 'pattern', 'const', '$ref', 'enum', 'properties', 'required', 'items'],
  ...['maximum', 'maxLength', 'maxItems', 'minimum', 'minLength', 'minItems', 'minProperties'],
  ...['title', 'description', 'default', 'example', 'examples'],
]);

/** Keywords with a list of schemas, which are compared one by one. */
const combining: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'allOf']);

/** The value of a limit; required members count as members, too. */
function boundOf(of: Json, keyword: string): unknown {
  const { [keyword]: bound, required } = of;
  return keyword === 'minProperties' && bound === undefined && Array.isArray(required) ? required.length : bound;
}

/** @param isWritten whether clients write the value: then it must accept as much, else it must promise as much */
function schemaChanges(place: string, before: Json, now: Json, isWritten: boolean): readonly string[] {
  const found: string[] = [];
  for (const keyword of ['type', 'format', 'pattern', 'const', '$ref', ...(isWritten ? ['default'] : [])]) {
    if (JSON.stringify(before[keyword]) !== JSON.stringify(now[keyword])) found.push(`${place}: ${keyword} differs`);
  }
  const [values, others] = [before['enum'], now['enum']];
  if (Array.isArray(values) || Array.isArray(others)) {
    const [had, has] = [new Set((values ?? []) as unknown[]), new Set((others ?? []) as unknown[])];
    const isKept = isWritten ? [...had].every((one) => has.has(one)) : [...has].every((one) => had.has(one));
    if (!isKept && !place.endsWith('.error.code'))
      found.push(`${place}: enum ${isWritten ? 'lost' : 'gained'} a value`);
  }
  for (const [keyword, isLower] of [
    ['maximum', true],
    ['maxLength', true],
    ['maxItems', true],
    ['minimum', false],
    ['minLength', false],
    ['minItems', false],
    ['minProperties', false],
  ] as const) {
    const [had, has] = [boundOf(before, keyword), now[keyword]];
    if (!isWritten || typeof has !== 'number') continue;
    if (typeof had !== 'number' || (isLower ? has < had : has > had)) found.push(`${place}: ${keyword} is stricter`);
  }
  found.push(...otherChanges(place, before, now, isWritten));
  const required = (of: Json) => new Set((of['required'] ?? []) as string[]);
  const [needed, needs] = [required(before), required(now)];
  for (const [name, schema] of Object.entries(optional(before, 'properties') ?? {})) {
    const other = optional(optional(now, 'properties'), name);
    if (other === undefined) {
      found.push(`${place}.${name}: is gone`);
      continue;
    }
    found.push(...schemaChanges(`${place}.${name}`, schema as Json, other, isWritten));
    if (!isWritten && needed.has(name) && !needs.has(name)) found.push(`${place}.${name}: is optional now`);
  }
  if (isWritten) for (const name of needs) if (!needed.has(name)) found.push(`${place}.${name}: is required now`);
  const [items, otherItems] = [optional(before, 'items'), optional(now, 'items')];
  if (items !== undefined && otherItems === undefined) found.push(`${place}[]: is gone`);
  if (items !== undefined && otherItems !== undefined) {
    found.push(...schemaChanges(`${place}[]`, items, otherItems, isWritten));
  }
  return found;
}

/** The changes of the keywords that `schemaChanges` does not judge. */
function otherChanges(place: string, before: Json, now: Json, isWritten: boolean): readonly string[] {
  const found: string[] = [];
  for (const keyword of new Set([...Object.keys(before), ...Object.keys(now)])) {
    if (judged.has(keyword)) continue;
    const [parts, others] = [list(before[keyword]), list(now[keyword])];
    if (combining.has(keyword) && parts.length === others.length) {
      for (const [at, part] of parts.entries()) {
        found.push(...schemaChanges(`${place}.${keyword}[${at}]`, part, others[at] ?? {}, isWritten));
      }
    } else if (JSON.stringify(before[keyword]) !== JSON.stringify(now[keyword])) {
      found.push(`${place}: ${keyword} differs`);
    }
  }
  return found;
}

function member(of: Json, ...names: readonly string[]): Json {
  return names.reduce((value, name) => optional(value, name) ?? {}, of);
}

function optional(of: Json | undefined, name: string): Json | undefined {
  const value = of?.[name];
  return typeof value === 'object' && value !== null ? (value as Json) : undefined;
}

function list(value: unknown): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}
