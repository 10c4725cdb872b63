import { parseAst } from 'vitest/node';

/** A node of the syntax tree (ESTree with TypeScript), whose members depend on its type. */
type Node = { readonly type: string } & Readonly<Record<string, unknown>>;

/** The value of an expression in a template: one word. */
const value = 'x1';
/** Calls and classes whose texts are for developers: documentation of schemas, faults of the program and of a run. */
const internal = /^(describe|TypeError|RangeError|Error|FlowError|ExpressionFault|KubeError|lost)$/;

/** The texts of a TypeScript source that a reader can meet: strings and templates, with `x1` for each expression. */
export function literalsOf(source: string): readonly string[] {
  const found: string[] = [];
  const visit = (node: Node): void => {
    const text = textOf(node);
    if (text !== undefined) found.push(text.trim());
    // The parts of a sum form one text.
    if (text === undefined || node.type === 'TemplateLiteral') for (const child of shownIn(node)) visit(child);
  };
  visit(parseAst(source, { lang: 'ts', astType: 'ts', sourceType: 'module' }) as unknown as Node);
  return found;
}

/** The parts of a node with texts for readers: no types, no imports, and no texts for developers. */
function shownIn(node: Node): readonly Node[] {
  const children = Object.values(node)
    .flat()
    .filter((one): one is Node => typeof (one as Node | null)?.type === 'string');
  if (/^(TS|Import)/.test(node.type) && !node.type.endsWith('Expression')) return [];
  // Statements of SQL are tagged; a text in them is an expression.
  if (node.type === 'TaggedTemplateExpression') return shownIn(node['quasi'] as Node);
  const isInternal = /^(Call|New)Expression$/.test(node.type) && internal.test(calledName(node));
  // A schema that is described may have separate texts.
  return isInternal ? [node['callee'] as Node] : children;
}

function calledName(node: Node): string {
  const callee = node['callee'] as Node;
  return String(((callee['property'] ?? callee) as Node)['name']);
}

/** The text of a string, a template or a sum of them. */
function textOf(node: Node): string | undefined {
  if (node.type === 'Literal') return typeof node['value'] === 'string' ? node['value'] : undefined;
  if (node.type === 'TemplateLiteral') {
    const quasis = node['quasis'] as readonly { readonly value: { readonly cooked: string } }[];
    return quasis.map((one) => one.value.cooked).join(value);
  }
  if (node.type !== 'BinaryExpression' || node['operator'] !== '+') return undefined;
  const [left, right] = [textOf(node['left'] as Node), textOf(node['right'] as Node)];
  return left === undefined || right === undefined ? undefined : `${left}${right}`;
}
