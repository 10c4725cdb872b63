import { writeFileSync } from 'node:fs';
import { until } from '#kit/testing/until';
import { missingPostgres, startTestServer } from '#sql/testing/test-server';
import { startCatalogue } from '../../dataplane/catalogue/testing/start-catalogue.ts';
import type { Figure } from '../support/figure.ts';
import { randomFrom } from '../support/random-from.ts';

const sizes = { full: 50_000, small: 700 } as const;
const atOnce = 8;
const faults = ['changed', 'cut', 'longer', 'foreign', 'filters', 'version', 'random'] as const;

export const figure: Figure = {
  name: 'catalogue-cursors',
  title:
    'cursors that are changed, cut, extended, of another caller, with other filters, of another version of the API, invented, expired or of an earlier secret: each one is refused with cursor_invalid, and valid ones between them open their page',
  async run(size, say) {
    if (missingPostgres !== undefined) return { skipped: missingPostgres };
    await using server = await startTestServer();
    const time = { offset: 0 };
    const clock = { now: () => performance.now(), date: () => new Date(Date.now() + time.offset) };
    await using world = await startCatalogue(await server.createDatabase(), { overrides: { clock } });
    for (let at = 0; at < 4; at += 1) await world.allow('ann', 'view', await world.publish(`agent-${at}`));
    let [ann, bob] = ['', ''];
    const random = randomFrom(18);
    const fresh = async (): Promise<string> =>
      String((await world.ask(ann, '/api/v1/agents?limit=1')).json['nextCursor']);
    const counts = { refused: 0, wrong: 0, valid: 0, invalid: 0 };
    const expectRefused = async (path: string, token: string): Promise<void> => {
      const { status, json } = await world.ask(token, path);
      const isRefused = status === 400 && (json['error'] as { code?: string } | undefined)?.code === 'cursor_invalid';
      counts[isRefused && json['items'] === undefined ? 'refused' : 'wrong'] += 1;
    };
    const attack = async (fault: (typeof faults)[number], cursor: string): Promise<void> => {
      const bytes = Buffer.from(cursor, 'base64url');
      const place = Math.floor(random() * bytes.length);
      const path = '/api/v1/agents?cursor=';
      switch (fault) {
        case 'changed':
          bytes.writeUInt8(bytes.readUInt8(place) ^ (1 + Math.floor(random() * 255)), place);
          return await expectRefused(path + bytes.toString('base64url'), ann);
        case 'cut':
          return await expectRefused(path + bytes.subarray(0, place).toString('base64url'), ann);
        case 'longer':
          return await expectRefused(
            path + Buffer.concat([bytes, bytes.subarray(0, 1 + (place % 8))]).toString('base64url'),
            ann,
          );
        case 'foreign':
          return await expectRefused(path + cursor, bob);
        case 'filters':
          return await expectRefused(`/api/v1/agents?workspaceId=support&cursor=${cursor}`, ann);
        case 'version':
          return await expectRefused(`/api/v2/agents?cursor=${cursor}`, ann);
        case 'random':
          for (let at = 0; at < bytes.length; at += 1) bytes.writeUInt8(Math.floor(random() * 256), at);
          return await expectRefused(path + bytes.toString('base64url'), ann);
      }
    };
    const rotations = 20;
    const each = Math.floor(sizes[size] / rotations);
    for (let rotation = 0; rotation < rotations; rotation += 1) {
      // A token is valid for ten minutes, which is less than a full run on a busy machine takes.
      [ann, bob] = [await world.token('ann'), await world.token('bob')];
      const cursor = await fresh();
      const open = Array.from({ length: each }, (_one, at) => faults[at % faults.length] ?? 'random');
      await Promise.all(
        Array.from({ length: atOnce }, async () => {
          for (let fault = open.pop(); fault !== undefined; fault = open.pop()) await attack(fault, cursor);
        }),
      );
      const page = await world.ask(ann, `/api/v1/agents?cursor=${cursor}`);
      counts[page.status === 200 ? 'valid' : 'invalid'] += 1;
      time.offset += 3_601_000;
      await expectRefused(`/api/v1/agents?cursor=${cursor}`, ann);
      time.offset -= 3_601_000;
      writeFileSync(world.cursorKeyFile, `a-secret-of-cursors-number-${rotation}-with-enough-characters\n`);
      await until(
        'the secret is read',
        async () => (await world.ask(ann, `/api/v1/agents?cursor=${cursor}`)).status === 400,
      );
      await expectRefused(`/api/v1/agents?cursor=${cursor}`, ann);
      if (rotation % 5 === 4) say(`${counts.refused} refused`);
    }
    return {
      holds: counts.wrong === 0 && counts.invalid === 0 && counts.valid === rotations && counts.refused > 0,
      line: `${counts.refused} of ${counts.refused + counts.wrong} wrong cursors refused with cursor_invalid; ${counts.valid} of ${rotations} valid ones opened their page`,
    };
  },
};
