import type { MemberKinds } from '../member-kinds.ts';

/** Types that the package names and that hold strings, lists, or strings and objects; any other named type is an object. */
const namedTypes: Readonly<Record<string, readonly MemberKinds[string][number][]>> = {
  'Shared.ChatModel': ['string'],
  'Shared.ReasoningEffort': ['string'],
  'Shared.ResponsesModel': ['string'],
  ChatCompletionToolChoiceOption: ['string', 'object'],
  EmbeddingModel: ['string'],
  ResponseInput: ['array'],
  ServiceTier: ['string'],
  ToolChoiceOptions: ['string'],
};

/** The members of an interface in declarations of the `openai` package, with the kinds of JSON values that they allow. */
export function declaredKinds(declarations: string, name: string): MemberKinds {
  const [, body = ''] = new RegExp(`^export interface ${name} \\{\\n([\\s\\S]*?)^\\}`, 'm').exec(declarations) ?? [];
  // An object type that is written inline counts as one member.
  const flat = body.replace(/\{[^{};]*;\s*\}/g, 'Inline');
  const members = [...flat.matchAll(/^ {4}(\w+)\??: ([^;]+);/gm)];
  return Object.fromEntries(members.map(([, key = '', type = '']) => [key, kindsOf(type)]));
}

function kindsOf(type: string): MemberKinds[string] {
  const parts = type
    .replace(/Array<[^<>]*>/g, 'Array<>')
    .split('|')
    .map((part) => part.trim());
  return [...new Set(parts.flatMap(kindsOfPart))];
}

function kindsOfPart(part: string): MemberKinds[string] {
  if (part === 'null') return [];
  if (part === 'boolean' || part === 'number' || part === 'string') return [part];
  if (part.startsWith("'") || part === '(string & {})') return ['string'];
  if (part.startsWith('Array<')) return ['array'];
  return namedTypes[part] ?? ['object'];
}
