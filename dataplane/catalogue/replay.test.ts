import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runToEnd } from '#kit/testing/run-to-end';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { migrate } from '#sql/migrate';
import { missingPostgres, onPostgres, openTestDatabase } from '#sql/testing/test-database';

const program = join(import.meta.dirname, 'replay.ts');
const agentId = '01890a5d-ac96-774b-bcce-b302099a8091';

describe.skipIf(missingPostgres !== undefined)(onPostgres('the program that sends events again'), () => {
  test('an administrator sends events again with the settings of the worker, and invalid arguments change nothing', async () => {
    using folder = temporaryFolder();
    await using database = await openTestDatabase();
    await migrate(database.database, { schema: 'catalogue', folder: new URL('./migrations/', import.meta.url) });
    const { sql } = database.database;
    await sql`
      insert into catalogue.outbox (event_id, agent_id, event_no, type, delivered_at)
      select gen_random_uuid(), ${agentId}::uuid, number, 'agent.activated', clock_timestamp()
      from generate_series(1, 3) as number`;
    const secret = join(folder.path, 'secret');
    writeFileSync(secret, 'a-secret-with-enough-characters');
    const environment = {
      ...process.env,
      PORTCULLIS_ROLE: 'api',
      PORTCULLIS_IDENTITY: 'development',
      PORTCULLIS_DATABASE_URL: database.url,
      PORTCULLIS_DATABASE_PASSWORD_FILE: database.passwordFile,
      PORTCULLIS_CURSOR_KEY_FILE: secret,
      PORTCULLIS_MODEL_GATEWAY_URL: 'http://127.0.0.1:9',
      PORTCULLIS_MODELS_FILE: join(folder.path, 'models.yaml'),
    };
    const run = (...words: readonly string[]) => runToEnd(process.execPath, [program, ...words], { environment });
    const open = async () => {
      const rows = await sql<{ no: number }[]>`
        select event_no::int as no from catalogue.outbox where delivered_at is null order by event_no`;
      return rows.map(({ no }) => no);
    };
    expect(await run('agent', 'assistant', '2')).toMatchObject({ code: 2, stdout: '' });
    expect(await open()).toEqual([]);
    expect(await run('agent', agentId, '2')).toMatchObject({
      code: 0,
      stdout: 'Events that are sent again, once a receiver is set: 2\n',
      stderr: '',
    });
    expect(await open()).toEqual([2, 3]);
  });
});
