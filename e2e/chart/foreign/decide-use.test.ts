import { describe, expect, test } from 'vitest';
import { type ClusterSnapshot, decideUse, type Present } from './decide-use.ts';

const ended = 'portcullis-e2e-0a1b2c';
const crd = (name: string, owner: Present['owner']): Present => ({
  id: `customresourcedefinition.apiextensions.k8s.io/${name}`,
  resourceVersion: '7',
  owner,
});
const ofSuite = (namespace: string) => ({ release: 'portcullis', namespace });
const policies = 'guardrailpolicies.portcullis.dev';
const look = (more: Partial<ClusterSnapshot> = {}): ClusterSnapshot => ({
  context: 'theirs',
  namespace: 'portcullis-e2e-ffffff',
  namespaces: new Set(['default', 'shop']),
  present: [],
  objects: [],
  ...more,
});

describe('a foreign cluster', () => {
  test('a cluster without Portcullis objects is used', () => {
    expect(decideUse(look())).toEqual({ kind: 'allowed', leftovers: [] });
  });

  test('a cluster with unused definitions of an earlier run is used, and the definitions are taken over', () => {
    const present = [
      crd(policies, ofSuite(ended)),
      crd('gatewayroutes.portcullis.dev', ofSuite('portcullis-e2e-123456')),
    ];
    expect(decideUse(look({ present }))).toEqual({ kind: 'allowed', leftovers: present });
  });

  test.each<[string, Partial<ClusterSnapshot>, RegExp]>([
    [
      'a cluster that already has the namespace',
      { namespaces: new Set(['portcullis-e2e-ffffff']) },
      /^it has a namespace portcullis-e2e-ffffff, .* Start again: each run takes another name\.$/,
    ],
    [
      'a cluster with an installation',
      { present: [crd(policies, { release: 'portcullis', namespace: 'safety' }), crd('b', ofSuite('safety'))] },
      /guardrailpolicies\.portcullis\.dev \(and 1 more\) is there and belongs to the release portcullis of the namespace safety\. An installation that is there is neither upgraded nor removed: name a cluster without Portcullis\.$/,
    ],
    [
      'a cluster with an installation whose namespace is deleted',
      { present: [crd(policies, { release: 'guardrails', namespace: ended })] },
      /belongs to the release guardrails of the namespace portcullis-e2e-0a1b2c/,
    ],
    [
      'a cluster whose installation only has the name prefix of the suite',
      { present: [crd(policies, ofSuite('portcullis-e2e-production'))] },
      /belongs to the release portcullis of the namespace portcullis-e2e-production/,
    ],
    [
      'a cluster with leftover definitions, one of them applied without Helm',
      { present: [crd('gatewayroutes.portcullis.dev', ofSuite(ended)), crd(policies, undefined)] },
      /^customresourcedefinition\.apiextensions\.k8s\.io\/guardrailpolicies\.portcullis\.dev is there and belongs to no release of Helm/,
    ],
    [
      'a cluster with a running or aborted run',
      { present: [crd(policies, ofSuite(ended))], namespaces: new Set(['default', ended]) },
      /in the namespace portcullis-e2e-0a1b2c, or was broken off\. .*: kubectl --context=theirs --namespace=portcullis-e2e-0a1b2c annotate modelbindings\.portcullis\.dev,guardrailpolicies\.portcullis\.dev --all portcullis\.dev\/confirm-deletion=true; kubectl --context=theirs --namespace=portcullis-e2e-0a1b2c delete modelbindings\.portcullis\.dev,guardrailpolicies\.portcullis\.dev --all; kubectl --context=theirs --namespace=portcullis-e2e-0a1b2c delete namespace portcullis-e2e-0a1b2c$/,
    ],
    [
      'a cluster whose leftover definitions are in use',
      { present: [crd(policies, ofSuite(ended))], objects: ['GuardrailPolicy shop/cards', 'ModelBinding shop/till'] },
      /somebody uses them: GuardrailPolicy shop\/cards \(and 1 more\) is there\. Name a cluster without Portcullis\.$/,
    ],
  ])('%s is refused with instructions', (_title, more, sentence) => {
    const use = decideUse(look(more));
    expect(use).toEqual({ kind: 'refused', reason: expect.stringMatching(sentence) });
  });

  test('of several reasons for a refusal, one that waiting does not resolve is reported', () => {
    const present = [crd('gatewayroutes.portcullis.dev', ofSuite(ended)), crd(policies, ofSuite('safety'))];
    const use = decideUse(look({ present, namespaces: new Set([ended]), objects: ['GuardrailPolicy shop/cards'] }));
    expect(use).toMatchObject({ reason: expect.stringMatching(/neither upgraded nor removed/) });
  });
});
