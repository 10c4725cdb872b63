import type { EmbeddingProfile, Models } from '#models/ports';
import { vectorsKey } from '#models/vectors-key';
import { analyse } from '#search/analysis/analyse';
import { base64OfVector } from '#search/vector-text';
import { uuidOf } from '../../dataplane/catalogue/testing/agent-resources.ts';
import type { CatalogueWorld } from '../../dataplane/catalogue/testing/start-catalogue.ts';

export type FilledAgent = { readonly id: string; readonly passage: string };

export type Embedder = { readonly models: Pick<Models, 'embed'>; readonly profile: EmbeddingProfile };

const themes = [
  'salaries',
  'holidays',
  'invoices',
  'contracts',
  'travel',
  'hiring',
  'taxes',
  'offices',
  'laptops',
  'law',
];
const actions = ['explains', 'checks', 'compares', 'drafts', 'translates', 'plans', 'audits', 'sorts'];
const places = ['Berlin', 'Lisbon', 'Kazan', 'Oslo', 'Quito', 'Hanoi', 'Accra', 'Lima', 'Turin', 'Perth', 'Bergen'];
/** Number of rows in one statement. */
const batch = 2_500;
const texts = themes.length * actions.length * places.length;

/**
 * Stores many active agents with vectors in one workspace, as the feed would. A larger catalogue contains the agents of
 * a smaller one and more; their ids have no particular order.
 */
export async function fillCatalogue(
  { database }: CatalogueWorld,
  { models, profile }: Embedder,
  count: number,
): Promise<readonly FilledAgent[]> {
  const { sql } = database;
  const passages = Array.from({ length: Math.min(count, texts) }, (_one, at) => passageOf(at));
  const vectors = (await models.embed(profile, 'passage', passages)).map(base64OfVector);
  const terms = passages.map((passage) => analyse(passage).join(' '));
  await sql`insert into catalogue.workspaces (workspace, change_no) values ('support', 1) on conflict do nothing`;
  const agents = Array.from({ length: count }, (_one, at) => ({
    id: uuidOf(`filled-${at}`),
    passage: passages[at % passages.length] as string,
  }));
  for (let from = 0; from < count; from += batch) {
    const part = agents.slice(from, from + batch);
    const column = (values: readonly string[]) => sql`${sql.array([...values])}::text[]`;
    const eachOf = (values: readonly string[]) =>
      column(part.map((_one, at) => values[(from + at) % values.length] as string));
    const ids = column(part.map(({ id }) => id));
    await sql`
      insert into catalogue.agents (agent_id, resource, name, description, workspace, owner_issuer, owner_subject, state,
        protocol, implementation_type, version_id, skills, url, is_ready, is_consistent, is_routed, exposure)
      select id::uuid, 'filled-' || id, 'Agent ' || id, passage, 'support', 'https://people.example', 'olga', 'active',
        'a2a', 'low-code', id, '[]'::jsonb, 'https://agents.example/agents/' || id, true, true, true, 'R2'
      from unnest(${ids}, ${eachOf(passages)}) as given (id, passage)`;
    await sql`
      insert into catalogue.entries (workspace, agent_id, is_listed, protocol, implementation_type, passage, terms, vector,
        profile_id, change_no)
      select 'support', id::uuid, true, 'a2a', 'low-code', passage, terms, decode(vector, 'base64'), ${vectorsKey(profile)}, 1
      from unnest(${ids}, ${eachOf(passages)}, ${eachOf(terms)}, ${eachOf(vectors)})
        as given (id, passage, terms, vector)`;
  }
  // No resource changes, and no pass of the feed follows: the interfaces stay in the answers.
  await sql`update catalogue.feed set current_at = clock_timestamp() + interval '1 day'`;
  await sql`analyze`;
  return agents;
}

/** A card of about 60 words; every theme is in a fifth of them. */
function passageOf(at: number): string {
  const theme = themes[at % themes.length];
  const other = themes[(at + 3) % themes.length];
  const action = actions[Math.floor(at / themes.length) % actions.length];
  const place = places[Math.floor(at / themes.length / actions.length) % places.length];
  return [
    `Assistant ${place} ${action}`,
    `Answers questions about ${theme} and ${other} of the people in ${place}, with rules that were agreed there.`,
    `Ask about ${theme}`,
    `Finds the rule that applies, ${action} it for the case in question, and names the document and the paragraph.`,
    `${theme} ${place} rules documents`,
    `Ask about ${other}`,
    'Shows forms that must be filled in, deadlines until which they are due, and persons that decide.',
  ].join('\n');
}
