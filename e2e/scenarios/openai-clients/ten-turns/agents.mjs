import { Agent, run, setDefaultOpenAIClient, setOpenAIAPI, setTracingDisabled, tool } from '@openai/agents';
import OpenAI from 'openai';
import { z } from 'zod';

const [baseURL, apiKey, model, bad] = process.argv.slice(2);
setTracingDisabled(true);
setDefaultOpenAIClient(new OpenAI({ baseURL, apiKey }));
const weather = tool({ name: 'weather', description: 'w', parameters: z.object({ city: z.string() }), execute: async () => 'Snow' });
const agent = new Agent({ name: 'helper', instructions: 'Help.', model, tools: [weather] });
const placed = new Agent({ name: 'placed', instructions: 'Help.', model, outputType: z.object({ city: z.string() }) });
const text = 'What is the weather?';
const most = { maxTurns: 20 };

async function both() {
  const stream = await run(agent, text, { ...most, stream: true });
  await stream.completed;
  return [(await run(agent, text, most)).finalOutput, stream.finalOutput];
}

const [responses, responsesStreamed] = await both();
const structured = (await run(placed, 'Where?')).finalOutput.city;
const refused = await run(agent, bad, most).catch((error) => error.error?.type ?? error.type);
setOpenAIAPI('chat_completions');
const [whole, streamed] = await both();
console.log(JSON.stringify({ whole, streamed, responses, responsesStreamed, structured, refused }));
