import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openGatewayKeyRing } from '#identity/gateway-key-ring';
import { ensureGatewayKeys } from '#identity/gateway-keys';
import { mintServiceToken } from '#identity/service-token';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { agentSubject } from '#relations/subject';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { openCatalogue } from '../testing/open-catalogue.ts';

const issuer = 'https://gateway.example';
const planner = '01890a5d-ac96-774b-bcce-b302099a8091';

describe.skipIf(missingPostgres !== undefined)(onPostgres('agents that ask the catalogue'), () => {
  test('a run sees what both its user and its agent may view, with a token of the gateway for the catalogue only', async () => {
    using folder = temporaryFolder();
    const keysFile = join(folder.path, 'keys.json');
    await ensureGatewayKeys(keysFile);
    const keys = openGatewayKeyRing(keysFile);
    writeFileSync(join(folder.path, 'jwks.json'), JSON.stringify(await keys.publicKeySet()));
    const issuersFile = join(folder.path, 'issuers.yaml');
    const claims = { subjectIssuerClaim: 'sub_iss', tenantsClaim: 'tenants', groupsClaim: 'groups' };
    const trusted = { issuer, audience: 'urn:portcullis:catalogue', jwksFile: 'jwks.json', ...claims };
    writeFileSync(issuersFile, JSON.stringify({ issuers: [trusted] }));
    await using world = await openCatalogue({ config: { identity: { mode: 'production', issuersFile } } });
    const [first, second] = [await world.publish('first'), await world.publish('second')];
    await world.allow('ann', 'view', first, second);
    const tokenFor = async (audience: 'urn:portcullis:catalogue' | 'urn:portcullis:memory') =>
      mintServiceToken({
        ...{ key: await keys.signingKey(), issuer, audience, ttlSeconds: 60, agentId: planner, versionId: 'v1' },
        ...{ subject: { issuer: 'https://people.example', subject: 'ann' }, actors: [], groups: [] },
      });
    const token = await tokenFor('urn:portcullis:catalogue');
    expect(await world.listed(token)).toEqual([]);
    const agent = agentSubject({ issuer, subject: planner });
    await world.relations.grant([{ subject: agent, relation: 'view', object: `agent:${second.agentId}` }]);
    expect(await world.listed(token)).toEqual([second.agentId]);
    await world.forbid('ann', 'view', second);
    expect(await world.listed(token)).toEqual([]);
    expect((await world.ask(await tokenFor('urn:portcullis:memory'), '/api/v1/agents')).status).toBe(401);
  });
});
