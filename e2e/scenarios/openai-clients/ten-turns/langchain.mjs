import { HumanMessage, ToolMessage } from '@langchain/core/messages';
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai';
import { z } from 'zod';

const [baseURL, apiKey, model, bad] = process.argv.slice(2);
const settings = { model, apiKey, maxRetries: 0, configuration: { baseURL } };
const place = z.object({ city: z.string() });
const tools = [{ type: 'function', function: { name: 'weather', parameters: z.toJSONSchema(place) } }];

async function loop(useResponsesApi, stream) {
  const chat = new ChatOpenAI({ ...settings, useResponsesApi, streamUsage: false }).bindTools(tools);
  const messages = [new HumanMessage('What is the weather?')];
  for (;;) {
    let answer;
    if (stream) for await (const chunk of await chat.stream(messages)) answer = answer === undefined ? chunk : answer.concat(chunk);
    else answer = await chat.invoke(messages);
    messages.push(answer);
    if (!answer.tool_calls?.length) return answer.text;
    for (const { id } of answer.tool_calls) messages.push(new ToolMessage({ tool_call_id: id, content: 'Snow' }));
  }
}

const chat = new ChatOpenAI({ ...settings, useResponsesApi: false });
const structured = await chat.withStructuredOutput(place, { method: 'jsonSchema' }).invoke('Where?');
const embedding = await new OpenAIEmbeddings(settings).embedDocuments(['one', 'two']);
const refused = await chat.invoke(bad).catch((error) => error.error?.type ?? error.type);
console.log(
  JSON.stringify({
    whole: await loop(false, false),
    streamed: await loop(false, true),
    responses: await loop(true, false),
    responsesStreamed: await loop(true, true),
    structured: structured.city,
    embedding,
    refused,
  }),
);
