import { expect, test } from 'vitest';
import { providerListSchema } from '#contracts/management';
import { listedProvider } from './provider.ts';

const endpoint = 'https://provider.example/v1';

test('provider list shows external checks over resources in the form of the management API, without addresses', () => {
  const items = [
    listedProvider({ name: 'pii', kind: 'detector', endpoint, credential: 'pii-key' }),
    listedProvider({ name: 'topic', kind: 'classifier', endpoint, model: 'small', credential: 'topic-key' }),
  ];
  expect(providerListSchema.parse({ items })).toEqual({ items });
  expect(JSON.stringify(items)).not.toContain('provider.example');
});

test('provider list shows the name of the credential of a model provider, or null, and whether it is enabled', () => {
  const model = { kind: 'model', endpoint } as const;
  expect(listedProvider({ ...model, name: 'echo', enabled: true })).toEqual({
    name: 'echo',
    kind: 'model',
    enabled: true,
    credentialRef: null,
  });
  expect(listedProvider({ ...model, name: 'other', enabled: false, credential: 'other-key' })).toEqual({
    name: 'other',
    kind: 'model',
    enabled: false,
    credentialRef: { name: 'other-key' },
  });
});
