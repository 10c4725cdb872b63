import { policyManifest } from '../policy-text.ts';
import type { Mistake } from './mistake.ts';

const providers = '[{ name: pii, credentialRef: { name: pii } }]';
const rule = `{ id: far, kind: external_pipeline, timeoutMs: 100, action: { type: deny }, externalPipeline: { provider: pii, contract: platform.guardrail-runtime.detector/v1 } }`;
const approved = (kind: string, credential: string, more = ''): string =>
  `providers:\n  - { name: pii, kind: ${kind}, endpoint: "http://127.0.0.1:1/d", credential: ${credential}${more} }\n`;

/** Errors in files that do not exist, and in providers that do not fit. */
export const mistakesOfFiles: readonly Mistake[] = [
  {
    title: 'another credential than the approved one',
    args: ['test', '-f', 'FOLDER/p.yaml', '--providers', 'FOLDER/v.yaml'],
    files: { 'p.yaml': policyManifest({ request: rule, providers }), 'v.yaml': approved('detector', 'other') },
    exit: 9,
    place: ['p.yaml: policy small: spec.definition.providers[0].credentialRef.name is "pii"', 'provider pii'],
    remedy: [
      '"other" is the approved credential',
      'write that one there',
      'FOLDER/v.yaml lists the approved providers',
    ],
  },
  {
    title: 'a classifier in place of a detector',
    args: ['test', '-f', 'FOLDER/p.yaml', '--providers', 'FOLDER/v.yaml'],
    files: {
      'p.yaml': policyManifest({ request: rule, providers }),
      'v.yaml': approved('classifier', 'pii', ', model: small'),
    },
    exit: 9,
    place: ['p.yaml: policy small', 'the rule far', 'the provider pii is a classifier'],
    remedy: [
      'no detector is approved: add one to the approved providers, or write the rule with the kind llm_classifier',
      'FOLDER/v.yaml lists the approved providers',
    ],
  },
  {
    title: 'a flow that does not exist',
    args: ['flow', 'check', 'FOLDER/absent.yaml'],
    exit: 3,
    place: ['no file FOLDER/absent.yaml'],
    remedy: ['check the path'],
  },
  {
    title: 'documents that do not exist',
    args: ['documents', 'submit', 'FOLDER/absent', '--collection', 'handbook', '--as', 'ann'],
    exit: 3,
    place: ['no file or folder FOLDER/absent'],
    remedy: ['check the path'],
  },
  {
    title: 'operations on an object of an unknown name',
    args: ['operation', 'list', '--target', 'something-else'],
    exit: 3,
    place: ['"something-else"'],
    remedy: ['"portcullis get all" lists the names'],
  },
];
