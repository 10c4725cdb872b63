import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { dataDirectory } from '#contracts/data-directory';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { servingDirectory } from '../support/serving-directory.ts';
import { startPlatform } from '../support/start-platform.ts';

/** The example of an agent with texts that the example policy masks and denies. */
function putAgent(data: string): void {
  const folder = new URL('../../examples/agents/assistant/', import.meta.url);
  const read = (file: string): string => readFileSync(new URL(file, folder), 'utf8');
  const version = read('agentversion.yaml')
    .replace('title: Assistant, description: Answers a question in one sentence.', () => {
      return 'title: Assistant, description: Asks ivan.petrov@example.com.';
    })
    .replace('name: Answer, description: Answers a question in one sentence.', () => {
      return 'name: Answer, description: Explains how to make a bomb.';
    });
  writeFileSync(join(dataDirectory(data).apply, 'assistant.yaml'), `${version}---\n${read('agent.yaml')}`);
}

test.skipIf(missingPostgres !== undefined)(
  onPostgres('on one machine, texts of cards are judged by the served policy that --guard-cards names'),
  async () => {
    using folder = temporaryFolder();
    const data = servingDirectory(folder.path);
    await using platform = await startPlatform({ data, catalogue: true, guardCards: 'documents' });
    const { catalogue } = platform.status().addresses;
    if (catalogue === undefined) throw new Error(platform.output());
    putAgent(data);
    const headers = { 'x-tenant-id': 'default', 'x-user-id': 'bob' };
    const agent = await until('the catalogue has the agent', async () => {
      const { items } = (await (await fetch(`${catalogue}/api/v1/agents`, { headers })).json()) as {
        readonly items: readonly Readonly<Record<string, unknown>>[];
      };
      return items[0];
    });
    expect(agent['description']).toBe('Asks [email].');
    expect(agent['skills']).toMatchObject([{ name: 'Answer', description: '[removed]' }]);
    const log = readFileSync(join(data, 'logs', 'catalogue.log'), 'utf8');
    expect(log).toContain('guard_target_loaded');
    expect(log).not.toContain('cards_unguarded');
  },
);
