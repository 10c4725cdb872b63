/** The files of a new flow, by name. */
export function newFlowFiles(name: string, flowId: string): Readonly<Record<string, string>> {
  return { 'flow.yaml': flowOf(name, flowId), 'tests.yaml': tests, 'manifest.yaml': manifestOf(name) };
}

const ref = (path: string): string => `"\${${path}}"`;

const flowOf = (name: string, flowId: string): string => `apiVersion: platform.low-code.flow/v2
metadata:
  flowId: ${flowId}
  name: ${name}
  version: 1
input:
  schema:
    type: object
    properties: { question: { type: string, minLength: 1 } }
    required: [question]
    additionalProperties: false
output:
  schema:
    type: object
    properties: { answer: { type: string } }
    required: [answer]
entrypoints: { main: start }
nodes:
  - { id: start, kind: input }
  - id: answer
    kind: prompt
    config:
      # An alias of the model gateway.
      model: guarded-echo
      messages:
        - { role: system, content: Answer in one sentence. }
        - { role: user, content: "{{input.question}}" }
  - id: reply
    kind: output
    inputs:
      text: ${ref('nodes.answer.output.text')}
      data: { answer: ${ref('nodes.answer.output.text')} }
edges:
  - { from: start, to: answer }
  - { from: answer, to: reply }
`;

const tests = `apiVersion: platform.low-code.flow-tests/v1
tests:
  - name: gives the answer of the model
    input: { question: What is the capital of France? }
    # What each call of a node gets; nothing else is called.
    answers:
      answer: { text: Paris. }
    expect: { data: { answer: Paris. } }
  - name: ends as unavailable when the model does not respond
    input: { question: What is the capital of France? }
    answers:
      answer: { error: unavailable }
    expect: { error: unavailable }
`;

/** `portcullis flow version` fills in the digest, the schemas and the requirements of the flow. */
const manifestOf = (name: string): string => `apiVersion: platform.low-code.publish-manifest/v2
agent: { name: ${name}, title: ${name}, description: Answers a question in one sentence. }
# The digest, the schemas and the requirements are those of the flow: portcullis flow version.
flow: { entrypoint: main }
executionModes: [a2a_agent, mcp_tool]
contract:
  inputMediaModes: [text/plain, application/json]
  outputMediaModes: [text/plain, application/json]
a2a:
  skills:
    - { id: answer, name: Answer, description: Answers a question in one sentence., tags: [example] }
mcp: { toolName: answer, title: Answer, description: Answers a question in one sentence. }
# A revision of a policy, { policy: NAME, revision: 1 }, or None.
guardrails: { input: None, output: None }
limits: { timeoutMs: 60000, concurrency: 4 }
`;
