import { type AgentSkill, catalogueLimits } from '#contracts/catalogue';
import type { PublishManifest } from '#flow/definition/manifest-schema';
import { safeId, safeText } from './safe-text.ts';

const { title, description, skills, tags, examples } = catalogueLimits;

/** One skill of a card with safe texts. */
export function safeSkill(skill: Omit<AgentSkill, 'examples'> & { readonly examples?: readonly string[] | undefined }) {
  return {
    id: safeId(skill.id, title),
    name: safeText(skill.name, title),
    description: safeText(skill.description, description),
    tags: skill.tags.slice(0, tags).map((tag) => safeText(tag, title)),
    ...(skill.examples === undefined
      ? {}
      : { examples: skill.examples.slice(0, examples).map((one) => safeText(one, description)) }),
  };
}

/** The skills of a card over A2A, or the tool of an agent over MCP, as safe texts (`catalogue:record:skills`). */
export function describeSkills({ executionModes, a2a, mcp }: PublishManifest): readonly AgentSkill[] {
  if (executionModes.includes('a2a_agent')) {
    return (a2a?.skills ?? []).slice(0, skills).map(safeSkill);
  }
  if (mcp === undefined) return [];
  const hints = Object.entries(mcp.annotations ?? {}).flatMap(([hint, isSet]) => (isSet === true ? [hint] : []));
  return [
    {
      id: mcp.toolName,
      name: safeText(mcp.title, title),
      description: safeText(mcp.description, description),
      tags: ['tool', ...hints],
    },
  ];
}
