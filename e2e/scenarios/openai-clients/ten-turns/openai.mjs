import OpenAI from 'openai';

const [baseURL, apiKey, model, bad] = process.argv.slice(2);
const client = new OpenAI({ baseURL, apiKey });
const parameters = { type: 'object', properties: { city: { type: 'string' } } };
const schema = { name: 'place', schema: parameters };
const content = 'What is the weather?';

async function chat(stream) {
  const tools = [{ type: 'function', function: { name: 'weather', parameters } }];
  const messages = [{ role: 'user', content }];
  for (;;) {
    const asked = { model, messages, tools };
    const message = stream
      ? await client.chat.completions.stream(asked).finalMessage()
      : (await client.chat.completions.create(asked)).choices[0].message;
    messages.push(message);
    if (!message.tool_calls?.length) return message.content;
    for (const { id } of message.tool_calls) messages.push({ role: 'tool', tool_call_id: id, content: 'Snow' });
  }
}

async function respond(stream) {
  const tools = [{ type: 'function', name: 'weather', parameters, strict: false }];
  const input = [{ role: 'user', content }];
  for (;;) {
    const asked = { model, input, tools };
    const answer = stream ? await client.responses.stream(asked).finalResponse() : await client.responses.create(asked);
    input.push(...answer.output);
    const calls = answer.output.filter(({ type }) => type === 'function_call');
    if (calls.length === 0) return answer.output_text;
    for (const { call_id } of calls) input.push({ type: 'function_call_output', call_id, output: 'Snow' });
  }
}

const messages = [{ role: 'user', content: 'Where?' }];
const structured = await client.chat.completions.create({ model, messages, response_format: { type: 'json_schema', json_schema: schema } });
const embedded = await client.embeddings.create({ model, input: ['one', 'two'] });
const refused = await client.chat.completions.create({ model, messages: [{ role: 'user', content: bad }] }).catch((error) => error.type);
console.log(
  JSON.stringify({
    whole: await chat(false),
    streamed: await chat(true),
    responses: await respond(false),
    responsesStreamed: await respond(true),
    structured: JSON.parse(structured.choices[0].message.content).city,
    embedding: embedded.data.map(({ embedding }) => embedding),
    refused,
  }),
);
