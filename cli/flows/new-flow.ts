/** The files of a new flow, by name. */
export function newFlowFiles(name: string, flowId: string): Readonly<Record<string, string>> {
  return { 'flow.yaml': flowOf(name, flowId), 'tests.yaml': tests };
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
  - name: ends typed when the model is away
    input: { question: What is the capital of France? }
    answers:
      answer: { error: unavailable }
    expect: { error: unavailable }
`;
