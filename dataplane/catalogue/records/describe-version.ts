import { type AgentSkill, catalogueLimits, type ImplementationType } from '#contracts/catalogue';
import { readSdkCard } from '#contracts/sdk-card';
import { manifestSchema } from '#flow/definition/manifest-schema';
import { readStrictYaml } from '#flow/source/read-strict-yaml';
import { parseStrict } from '#kit/json/parse-strict';
import type { AgentVersion } from '#resources/agent-version';
import { describeSkills, safeSkill } from './describe-skills.ts';

/** The author's description of a version: from the manifest of a flow, or from the card of an image. */
type DescribedVersion = {
  readonly title: string | undefined;
  readonly description: string;
  readonly protocol: 'a2a' | 'mcp';
  readonly implementationType: ImplementationType;
  readonly skills: readonly AgentSkill[];
};

/** @returns undefined if the manifest or the card cannot be read */
export function describeVersion({ spec }: Pick<AgentVersion, 'spec'>): DescribedVersion | undefined {
  if (spec.sdk !== undefined) return describeImage(spec.sdk);
  const read = readStrictYaml(spec.lowCode?.manifest ?? '', manifestSchema);
  if (!read.ok) return undefined;
  const manifest = read.source.value;
  return {
    title: manifest.agent.title,
    description: manifest.agent.description,
    protocol: manifest.executionModes.includes('a2a_agent') ? 'a2a' : 'mcp',
    implementationType: 'low-code',
    skills: describeSkills(manifest),
  };
}

function describeImage({ a2a, mcp }: NonNullable<AgentVersion['spec']['sdk']>): DescribedVersion | undefined {
  const implementationType = 'sdk';
  if (mcp !== undefined) {
    const tool = { id: mcp.tool, name: mcp.tool, description: '', tags: ['tool'] };
    return { title: undefined, description: '', protocol: 'mcp', implementationType, skills: [tool] };
  }
  const read = readSdkCard(parsed(a2a?.card ?? ''));
  if (!read.ok) return undefined;
  const { name, description, skills } = read.card;
  return {
    title: name,
    description,
    protocol: 'a2a',
    implementationType,
    skills: skills.slice(0, catalogueLimits.skills).map(safeSkill),
  };
}

function parsed(text: string): unknown {
  try {
    return parseStrict(Buffer.from(text, 'utf8'));
  } catch {
    return undefined;
  }
}
