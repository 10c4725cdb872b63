import { analyse } from '#search/analysis/analyse';
import { uuidOf } from '../../dataplane/catalogue/testing/agent-resources.ts';
import type { CatalogueWorld } from '../../dataplane/catalogue/testing/start-catalogue.ts';

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
const batch = 5_000;

/** Stores many active agents in one workspace, as the feed would; their ids in order. */
export async function fillCatalogue({ database }: CatalogueWorld, count: number): Promise<readonly string[]> {
  const { sql } = database;
  const ids = Array.from({ length: count }, (_one, at) => uuidOf(`filled-${at}`)).toSorted();
  const texts = themes.map((theme, at) => `Answers questions about ${theme} and ${themes[(at + 3) % themes.length]}.`);
  await sql`insert into catalogue.workspaces (workspace, change_no) values ('support', 1) on conflict do nothing`;
  for (let from = 0; from < count; from += batch) {
    const part = ids.slice(from, from + batch);
    const passages = part.map((_id, at) => texts[(from + at) % texts.length] as string);
    const column = (values: readonly string[]) => sql`${sql.array([...values])}::text[]`;
    await sql`
      insert into catalogue.agents (agent_id, resource, name, description, workspace, owner_issuer, owner_subject, state,
        protocol, implementation_type, version_id, skills, url, is_ready, is_consistent, is_routed, exposure)
      select id::uuid, 'filled-' || id, 'Agent ' || id, passage, 'support', 'https://people.example', 'olga', 'active',
        'a2a', 'low-code', id, '[]'::jsonb, 'https://agents.example/agents/' || id, true, true, true, 'R2'
      from unnest(${column(part)}, ${column(passages)}) as given (id, passage)`;
    await sql`
      insert into catalogue.entries (workspace, agent_id, is_listed, protocol, implementation_type, passage, terms, change_no)
      select 'support', id::uuid, true, 'a2a', 'low-code', passage, terms, 1
      from unnest(${column(part)}, ${column(passages)},
        ${column(passages.map((passage) => analyse(passage).join(' ')))}) as given (id, passage, terms)`;
  }
  await sql`analyze`;
  return ids;
}
