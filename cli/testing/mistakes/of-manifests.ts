import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkout } from '../../platform/data-directory.ts';
import type { Mistake } from './mistake.ts';

const binding = `apiVersion: portcullis.dev/v1alpha1
kind: ModelBinding
metadata:
  name: typed
spec:
  model:
    alias: typed
    provider: echo
    upstreamModel: echo
    state: Enabled
  gateway: default
  guardrail:
    mode: Policy
    policyRef:
      name: guarded-chat
      revision: 1
  contentProfile: gateway-1.5.0-chat-webhook-v2
  replicas: 1
`;
const policy = readFileSync(join(checkout, 'examples/guarded-chat/policy.yaml'), 'utf8');

/** Applies a manifest in which one text is replaced. */
function edited(
  title: string,
  [from, to]: readonly [string, string],
  said: Pick<Mistake, 'place' | 'remedy' | 'without'>,
  text = binding,
): Mistake {
  if (!text.includes(from)) throw new Error(`the manifest of "${title}" does not contain ${from}`);
  return {
    title,
    args: ['apply', '-f', 'FOLDER/m.yaml'],
    files: { 'm.yaml': text.replace(from, to) },
    exit: 2,
    ...said,
  };
}

/** User errors in applied files. */
export const mistakesOfManifests: readonly Mistake[] = [
  edited('a wrong kind', ['kind: ModelBinding', 'kind: ModelBindings'], {
    place: ['m.yaml: document 1, line 2, column 1: kind'],
    remedy: ['must be one of GuardrailPolicy, ModelBinding', 'not "ModelBindings": did you mean ModelBinding?'],
  }),
  edited('a kind of Kubernetes in a file', ['kind: ModelBinding', 'kind: ConfigMap'], {
    place: ['m.yaml: document 1, line 2, column 1: kind'],
    remedy: ['must be one of GuardrailPolicy, ModelBinding'],
  }),
  edited('a missing kind', ['kind: ModelBinding\n', ''], {
    place: ['m.yaml: document 1, line 1, column 1: kind'],
    remedy: ['must be one of GuardrailPolicy, ModelBinding'],
  }),
  edited('a wrong apiVersion', ['portcullis.dev/v1alpha1', 'portcullis.dev/v1'], {
    place: ['m.yaml: document 1, line 1, column 1: apiVersion'],
    remedy: ['must be "portcullis.dev/v1alpha1", not "portcullis.dev/v1"'],
  }),
  edited('a misspelt field', ['upstreamModel: echo', 'upstreamModle: echo'], {
    place: ['line 9, column 5: spec.model.upstreamModle is an unknown field'],
    remedy: ['did you mean upstreamModel?'],
  }),
  edited('a field in another letter case', ['policyRef:', 'policyref:'], {
    place: ['line 14, column 5: spec.guardrail.policyref is an unknown field'],
    remedy: ['did you mean policyRef?'],
  }),
  edited('a field in the wrong place', ['  replicas: 1', '  alias: typed\n  replicas: 1'], {
    place: ['line 18, column 3: spec.alias is an unknown field'],
    remedy: ['remove it, because spec.model.alias is there already (line 7)'],
  }),
  edited('a wrong type', ['replicas: 1', 'replicas: "1"'], {
    place: ['line 18, column 3: spec.replicas'],
    remedy: ['must be a whole number, not "1": remove the quotes'],
  }),
  edited('a number with a fraction', ['replicas: 1', 'replicas: 1.5'], {
    place: ['line 18, column 3: spec.replicas'],
    remedy: ['must be a whole number, not 1.5'],
  }),
  edited('a number that is too large', ['replicas: 1', 'replicas: 65'], {
    place: ['line 18, column 3: spec.replicas'],
    remedy: ['must be at most 64, not 65'],
  }),
  edited('a missing field', ['    provider: echo\n', ''], {
    place: ['line 6, column 3: spec.model.provider'],
    remedy: [
      'is required: add it (provider names an approved provider of kind model)',
      '"portcullis provider list" lists the names',
    ],
  }),
  edited('a missing metadata', ['metadata:\n  name: typed\n', ''], {
    place: ['document 1, line 1, column 1: metadata'],
    remedy: ['is required: add it with name'],
  }),
  edited('a word outside of its list', ['state: Enabled', 'state: enabled'], {
    place: ['line 10, column 5: spec.model.state'],
    remedy: ['must be one of "Enabled", "Disabled", not "enabled"'],
  }),
  edited('a word outside of the list that decides', ['mode: Policy', 'mode: policy'], {
    place: ['line 13, column 5: spec.guardrail.mode'],
    remedy: ['must be one of "Policy", "None", not "policy"'],
  }),
  edited('a name in capitals', ['name: typed', 'name: Typed'], {
    place: ['line 4, column 3: metadata.name'],
    remedy: ['must be a DNS name in lower case, not "Typed": letters'],
  }),
  edited('an alias with a blank', ['alias: typed', 'alias: my model'], {
    place: ['line 7, column 5: spec.model.alias'],
    remedy: ['letters, digits', ', not "my model"'],
  }),
  edited('a wrong namespace', ['  name: typed', '  name: typed\n  namespace: other'], {
    place: ['document 1, line 5, column 3: metadata.namespace is "other"'],
    remedy: ['default', '--namespace other'],
  }),
  edited('a tab as indentation', ['  model:\n', '\tmodel:\n'], {
    place: ['m.yaml: document 1, line 6, column 1'],
    remedy: ['a tab', 'spaces'],
  }),
  edited('a bracket that is not closed', ['kind: ModelBinding', 'kind: [ModelBinding'], {
    place: ['m.yaml: document 1, line 2, column 7'],
    remedy: ['a bracket is opened and not closed: close it'],
  }),
  edited('a quote that is not closed', ['alias: typed', 'alias: "typed'], {
    place: ['m.yaml: document 1, line 7, column 12'],
    remedy: ['a quote is opened and not closed: close it'],
  }),
  edited('a wrong indentation', ['    provider: echo', '   provider: echo'], {
    place: ['m.yaml: document 1, line 8'],
    remedy: ['indentation', 'align'],
  }),
  edited('a missing blank after a colon', ['replicas: 1', 'replicas:1'], {
    place: ['m.yaml: document 1, line 18'],
    remedy: ['a colon and a space'],
  }),
  edited('two equal keys', ['  gateway: default', '  gateway: default\n  gateway: other'], {
    place: ['m.yaml: document 1, line 12, column 3'],
    remedy: ['has this key already, on line 11: remove one of the two'],
  }),
  edited('two documents with the same name', ['replicas: 1\n', `replicas: 1\n---\n${binding}`], {
    place: ['m.yaml: document 2, line 23, column 3', 'metadata.name is also the name of document 1 (line 4)'],
    remedy: ['another name, or remove one'],
  }),
  edited(
    'an action that does not exist',
    ['action: { type: deny }', 'action: { type: block }'],
    {
      place: ['spec.definition.request.baseline[0].action.type'],
      remedy: ['must be one of "deny", "mask"'],
    },
    policy,
  ),
  edited(
    'a kind of rule that does not exist',
    ['kind: stop_list', 'kind: stoplist'],
    {
      place: ['spec.definition.request.baseline[0].kind'],
      remedy: ['must be one of "stop_list", "regex", "external_pipeline", "llm_classifier"'],
    },
    policy,
  ),
  edited(
    'a rule with the members of another kind',
    ['kind: regex', 'kind: stop_list'],
    {
      place: ['spec.definition.request.baseline[1].regex'],
      remedy: ['set kind to regex, or remove regex and add stopList'],
      without: ['stopList is required'],
    },
    policy,
  ),
  edited(
    'a duration with a unit',
    ['deadlineMs: 250', 'deadlineMs: 250ms'],
    {
      place: ['line 14, column 7: spec.definition.request.deadlineMs'],
      remedy: ['must be a whole number'],
    },
    policy,
  ),
  edited(
    'a duration that is too long',
    ['deadlineMs: 250', 'deadlineMs: 250000'],
    {
      place: ['line 14, column 7: spec.definition.request.deadlineMs'],
      remedy: ['must be at most'],
    },
    policy,
  ),
  edited(
    'a rule that is listed twice',
    ['id: email-address', 'id: forbidden-subjects'],
    {
      place: ['spec.definition.request.baseline[1].id'],
      remedy: ['is used twice in its section, first by baseline[0]', 'another id'],
    },
    policy,
  ),
  edited(
    'a mask without a replacement',
    ['{ type: mask, replacement: "[email]" }', '{ type: mask }'],
    {
      place: ['spec.definition.request.baseline[1].action.replacement'],
      remedy: ['is required: add it'],
    },
    policy,
  ),
  {
    title: 'a file that does not exist',
    args: ['apply', '-f', 'FOLDER/none.yaml'],
    exit: 3,
    place: ['none.yaml'],
    remedy: ['check the path'],
  },
  {
    title: 'a folder without manifests',
    args: ['apply', '-f', 'FOLDER/empty'],
    files: { 'empty/': '' },
    exit: 2,
    place: ['empty'],
    remedy: ['.yaml, .yml or .json'],
  },
  {
    title: 'a folder in place of a file',
    args: ['check', '--policy', 'FOLDER/p', 'x'],
    files: { 'p/': '' },
    exit: 2,
    place: ['/p'],
    remedy: ['is a folder', 'give a file'],
  },
  {
    title: 'an empty file',
    args: ['apply', '-f', 'FOLDER/m.yaml'],
    files: { 'm.yaml': '# later\n' },
    exit: 2,
    place: ['m.yaml'],
    remedy: ['no resource', 'GuardrailPolicy'],
  },
  {
    title: 'nothing on standard input',
    args: ['apply', '-f', '-'],
    input: '',
    exit: 2,
    place: ['standard input'],
    remedy: ['no resource'],
  },
  {
    title: 'JSON with a comma too many',
    args: ['apply', '-f', 'FOLDER/m.json'],
    files: { 'm.json': '{"apiVersion": "portcullis.dev/v1alpha1",\n"kind": "ModelBinding",,}\n' },
    exit: 2,
    place: ['m.json: document 1, line 2'],
    remedy: ['comma'],
  },
  {
    title: 'a Helm template in place of a manifest',
    args: ['apply', '-f', 'FOLDER/m.yaml'],
    files: { 'm.yaml': binding.replace('name: typed', 'name: {{ .Release.Name }}') },
    exit: 2,
    place: ['m.yaml: document 1, line 4'],
    remedy: ['put the whole text in quotes, or render the template first'],
  },
  {
    title: 'a file in another encoding',
    args: ['apply', '-f', 'FOLDER/m.yaml'],
    files: { 'm.yaml': binding },
    encoding: 'utf16le',
    exit: 2,
    place: ['m.yaml'],
    remedy: ['UTF-8'],
  },
];
