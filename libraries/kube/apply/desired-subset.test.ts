import { describe, expect, test } from 'vitest';
import { subsetOperations } from './desired-subset.ts';
import { sameQuantity } from './same-quantity.ts';

describe('what is desired', () => {
  const live = {
    metadata: { labels: { app: 'one', theirs: 'kept' } },
    spec: {
      replicas: 1,
      progressDeadlineSeconds: 600,
      template: {
        spec: {
          containers: [
            {
              name: 'runtime',
              image: 'a',
              resources: { limits: { cpu: '1', memory: '1Gi' } },
              imagePullPolicy: 'Always',
            },
          ],
          restartPolicy: 'Always',
        },
      },
    },
  };
  const container = { name: 'runtime', image: 'a', resources: { limits: { cpu: '1000m', memory: '1024Mi' } } };

  test.each([
    ['its own parts', { spec: { replicas: 1 } }],
    ['items of lists without what the server added', { spec: { template: { spec: { containers: [container] } } } }],
    ['nothing', {}],
    ['an empty list that is absent', { spec: { template: { spec: { tolerations: [] } } } }],
    ['an empty text that is absent', { spec: { template: { spec: { nodeName: '' } } } }],
    ['an absence', { spec: { paused: null } }],
    ['undefined', { spec: { replicas: undefined } }],
  ])('is there already: %s', (_name, desired) => {
    expect(subsetOperations(live, desired)).toEqual([]);
  });

  test.each([
    ['a scalar', { spec: { replicas: 2 } }, [{ op: 'replace', path: '/spec/replicas', value: 2 }]],
    ['a new member', { spec: { paused: true } }, [{ op: 'add', path: '/spec/paused', value: true }]],
    ['a false that is absent', { spec: { paused: false } }, [{ op: 'add', path: '/spec/paused', value: false }]],
    ['an absence', { spec: { replicas: null } }, [{ op: 'remove', path: '/spec/replicas' }]],
    [
      'a key with a slash',
      { metadata: { labels: { 'a/b~c': 'd' } } },
      [{ op: 'add', path: '/metadata/labels/a~1b~0c', value: 'd' }],
    ],
    [
      'a member of an item',
      { spec: { template: { spec: { containers: [{ ...container, image: 'b' }] } } } },
      [{ op: 'replace', path: '/spec/template/spec/containers/0/image', value: 'b' }],
    ],
    [
      'a list of another length',
      { spec: { template: { spec: { containers: [{ name: 'a', image: null }, { name: 'b' }] } } } },
      [{ op: 'replace', path: '/spec/template/spec/containers', value: [{ name: 'a' }, { name: 'b' }] }],
    ],
    [
      'another quantity',
      { spec: { template: { spec: { containers: [{ resources: { limits: { cpu: '2' } } }] } } } },
      [{ op: 'replace', path: '/spec/template/spec/containers/0/resources/limits/cpu', value: '2' }],
    ],
    ['another type', { spec: { replicas: { of: 1 } } }, [{ op: 'replace', path: '/spec/replicas', value: { of: 1 } }]],
    ['a whole part', { data: { a: 'b', c: null } }, [{ op: 'add', path: '/data', value: { a: 'b' } }]],
    [
      'a quantity where there is none',
      { spec: { replicas: '1' } },
      [{ op: 'replace', path: '/spec/replicas', value: '1' }],
    ],
  ])('is written where it differs: %s', (_name, desired, operations) => {
    expect(subsetOperations(live, desired)).toEqual(operations);
  });
});

test.each([
  ['1', 1, true],
  ['1000m', '1', true],
  ['0.5', '500m', true],
  ['1024Mi', '1Gi', true],
  ['1.5Gi', '1536Mi', true],
  ['1e3', '1k', true],
  ['1E3', '1000', true],
  ['1E', '1000P', true],
  ['-1', '-1000m', true],
  ['0.0000000001', '1n', true],
  ['100m', '1', false],
  ['1G', '1Gi', false],
  ['1', '-1', false],
  ['1K', '1000', false],
  ['', '0', false],
  ['one', 'two', false],
])('the quantities %s and %s are equal: %s', (a, b, equal) => {
  expect(sameQuantity(a, b)).toBe(equal);
});
