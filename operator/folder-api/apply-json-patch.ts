import { z } from 'zod';
import { sameJson } from '#kube/apply/same-json';
import { ApiRefusal, patchDoesNotApply } from './api-refusal.ts';

const maxOperations = 10_000;

const pointer = z.string().regex(/^(\/([^~/]|~[01])*)*$/);
const operationSchema = z.discriminatedUnion('op', [
  z.object({ op: z.enum(['add', 'replace', 'test']), path: pointer, value: z.unknown() }),
  z.object({ op: z.literal('remove'), path: pointer }),
]);
const patchSchema = z.array(operationSchema);

type Operation = z.infer<typeof operationSchema>;
type Container = { [name: string]: unknown } | unknown[];

/**
 * Applies a JSON Patch (RFC 6902: add, remove, replace, test) to a copy and returns it.
 * @throws ApiRefusal `BadRequest` for a body that is not a JSON Patch of these operations, `Invalid` for a patch that
 * does not apply: a failed test or a missing path
 */
export function applyJsonPatch(document: unknown, body: unknown): unknown {
  const parsed = patchSchema.safeParse(body);
  if (!parsed.success)
    throw new ApiRefusal('BadRequest', 'the body is not a JSON Patch of add, remove, replace and test');
  if (parsed.data.length > maxOperations) {
    throw new ApiRefusal('RequestEntityTooLarge', `a patch has at most ${maxOperations} operations`);
  }
  const root: { document: unknown } = { document: structuredClone(document) };
  for (const operation of parsed.data) applyOperation(root, operation);
  return root.document;
}

function applyOperation(root: { document: unknown }, operation: Operation): void {
  const segments = ['document', ...operation.path.split('/').slice(1).map(unescapeSegment)];
  const last = segments.pop() as string;
  const parent = segments.reduce<unknown>((at, segment) => memberOf(containerOf(at), segment), root);
  const container = containerOf(parent);
  switch (operation.op) {
    case 'test':
      if (!sameJson(memberOf(container, last), operation.value)) throw patchDoesNotApply();
      return;
    case 'add':
      insert(container, last, structuredClone(operation.value));
      return;
    case 'replace':
      memberOf(container, last);
      replace(container, last, structuredClone(operation.value));
      return;
    case 'remove':
      memberOf(container, last);
      remove(container, last);
      return;
  }
}

function unescapeSegment(segment: string): string {
  return segment.replaceAll('~1', '/').replaceAll('~0', '~');
}

function containerOf(value: unknown): Container {
  if (typeof value !== 'object' || value === null) throw patchDoesNotApply();
  return value as Container;
}

function memberOf(container: Container, name: string): unknown {
  if (Array.isArray(container)) return container[indexOf(name, container.length - 1)];
  if (!Object.hasOwn(container, name)) throw patchDoesNotApply();
  return container[name];
}

function indexOf(name: string, highest: number): number {
  if (!/^(0|[1-9][0-9]{0,8})$/.test(name) || Number(name) > highest) throw patchDoesNotApply();
  return Number(name);
}

function insert(container: Container, name: string, value: unknown): void {
  if (Array.isArray(container)) {
    const at = name === '-' ? container.length : indexOf(name, container.length);
    container.splice(at, 0, value);
    return;
  }
  define(container, name, value);
}

function replace(container: Container, name: string, value: unknown): void {
  if (Array.isArray(container)) container[Number(name)] = value;
  else define(container, name, value);
}

function remove(container: Container, name: string): void {
  if (Array.isArray(container)) container.splice(Number(name), 1);
  else delete container[name];
}

/** Sets an own member, also with the name `__proto__`. */
function define(container: { [name: string]: unknown }, name: string, value: unknown): void {
  Object.defineProperty(container, name, { value, enumerable: true, configurable: true, writable: true });
}
