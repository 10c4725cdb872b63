import type { PublishManifest } from '../definition/manifest-schema.ts';

/**
 * The member of the input that receives the text of a message: `text`, or else the only required string. A schema
 * without such a member accepts structured data only.
 */
export function textMemberOf({ inputSchema }: Pick<PublishManifest['contract'], 'inputSchema'>): string | undefined {
  const properties = membersOf(inputSchema['properties']);
  const isString = (name: string): boolean =>
    Object.hasOwn(properties, name) && membersOf(properties[name])['type'] === 'string';
  if (isString('text')) return 'text';
  const required = Array.isArray(inputSchema['required']) ? inputSchema['required'] : [];
  const texts = required.filter((name): name is string => typeof name === 'string' && isString(name));
  return texts.length === 1 ? texts[0] : undefined;
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : {};
}
