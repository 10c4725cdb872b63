import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { compactVerify } from 'jose';
import { expect, test } from 'vitest';
import { signCard } from './sign-card.ts';

test('a signature of a card covers its content without members that are empty or become empty', async () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const card = {
    name: 'n',
    description: '',
    version: null,
    capabilities: { streaming: false, extensions: [] },
    securityRequirements: [{ schemes: { bearer: { list: [] } } }],
    skills: [{ id: 's', tags: ['', 't'], count: 0 }],
    signatures: [{ protected: 'p', signature: 's' }],
  };
  const signed = await signCard(card, { kid: 'k', privateKey });
  const content = '{"capabilities":{"streaming":false},"name":"n","skills":[{"count":0,"id":"s","tags":["t"]}]}';
  const payload = Buffer.from(content).toString('base64url');
  const { protectedHeader } = await compactVerify(`${signed.protected}.${payload}.${signed.signature}`, publicKey);
  expect(protectedHeader).toEqual({ alg: 'EdDSA', typ: 'JOSE', kid: 'k' });
});

test('replicas with the same key sign a card with the same bytes, so that its ETag is that of each of them', async () => {
  const { privateKey } = generateKeyPairSync('ed25519');
  const card = { name: 'n', skills: [{ id: 's', tags: ['t'] }] };
  const copy = createPrivateKey(privateKey.export({ type: 'pkcs8', format: 'pem' }));
  expect(await signCard({ ...card }, { kid: 'k', privateKey: copy })).toEqual(
    await signCard(card, { kid: 'k', privateKey }),
  );
});
