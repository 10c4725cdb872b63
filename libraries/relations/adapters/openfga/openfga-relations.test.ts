import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { RelationsUnavailableError } from '../../relations-error.ts';
import { authorizationModel } from './authorization-model.ts';
import { openOpenFgaRelations } from './openfga-relations.ts';

const stores = { find: async () => undefined, claim: async (_key: string, id: string) => id };
const tuple = { subject: 'user:ann', relation: 'view', object: 'agent:support' } as const;

type Answer = readonly [number, object];

/**
 * A server that opens a store of OpenFGA, and answers every other request with the next of these answers; the last
 * answer is repeated.
 */
async function serve(answers: readonly Answer[]) {
  const opening: readonly (readonly [RegExp, object])[] = [
    [/^\/stores\?/, { stores: [{ id: '01KB000000000000000000000A', name: 'portcullis' }], continuation_token: '' }],
    [
      /\/authorization-models\?/,
      { authorization_models: [{ id: '01KB000000000000000000000B', ...authorizationModel() }] },
    ],
  ];
  const asked: string[] = [];
  const send = (outgoing: ServerResponse, [status, body]: Answer): void => {
    outgoing.writeHead(status, { 'content-type': 'application/json', 'retry-after': '60' }).end(JSON.stringify(body));
  };
  const server = createServer((incoming, outgoing) => {
    const path = incoming.url ?? '';
    const [, opened] = opening.find(([form]) => form.test(path)) ?? [];
    if (opened !== undefined) return send(outgoing, [200, opened]);
    asked.push(path.slice(path.lastIndexOf('/') + 1));
    send(outgoing, answers[Math.min(asked.length, answers.length) - 1] ?? [500, {}]);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return {
    asked,
    relations: await openOpenFgaRelations({ url, storeName: 'portcullis', stores }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
}

const later: Answer = [503, { code: 'unavailable', message: 'later' }];
const tooMany: Answer = [429, { code: 'rate_limit_exceeded', message: 'later' }];
const conflict: Answer = [409, { code: 'Aborted', message: 'conflict' }];
const written: Answer = [200, {}];

describe('requests to an OpenFGA server that asks to try again after a minute', () => {
  test.each([
    ['503', later],
    ['429', tooMany],
  ])('a change that is answered with %s fails, and is not sent again', async (_status, answer) => {
    await using world = await serve([answer, written]);
    await expect(world.relations.grant([tuple])).rejects.toThrow(RelationsUnavailableError);
    expect(world.asked).toEqual(['write']);
    await world.relations.revoke([tuple]);
    expect(world.asked).toEqual(['write', 'write']);
  });

  test('a change is not sent again after a conflict or an error', async () => {
    await using world = await serve([conflict, later, written]);
    const replaced = world.relations.replace({ removed: [tuple], added: [{ ...tuple, subject: 'user:ben' }] });
    await expect(replaced).rejects.toThrow(RelationsUnavailableError);
    expect(world.asked).toEqual(['write', 'write']);
  });

  test('a read is repeated once, without the pause of a change', async () => {
    await using world = await serve([later, [200, { tuples: [], continuation_token: '' }], later]);
    expect(await world.relations.tuplesOf(tuple.object)).toEqual([]);
    expect(world.asked).toEqual(['read', 'read']);
    await expect(world.relations.check(tuple.subject, tuple.relation, tuple.object)).rejects.toThrow(
      RelationsUnavailableError,
    );
    expect(world.asked).toHaveLength(4);
  });
});
