// Asks a guarded model with the agents SDK of OpenAI, which calls one tool. Needs: npm install @openai/agents zod
// The provider of the model must offer the Responses API. For one that does not, add setOpenAIAPI('chat_completions').
// Usage: eval "$(portcullis env)"; node examples/clients/openai-agents.mjs MODEL TEXT
import { Agent, run, setTracingDisabled, tool } from '@openai/agents';
import { z } from 'zod';

const [model = 'assistant', text = 'What is the weather in Oslo?'] = process.argv.slice(2);
// Traces would send the texts of the conversation to api.openai.com, past the gateway.
setTracingDisabled(true);
const weather = tool({
  name: 'weather',
  description: 'The weather in a city',
  parameters: z.object({ city: z.string() }),
  execute: async ({ city }) => `Snow in ${city}`,
});
const agent = new Agent({ name: 'helper', instructions: 'Answer in one sentence.', model, tools: [weather] });
try {
  console.log((await run(agent, text)).finalOutput);
  let streamed = '';
  const stream = await run(agent, text, { stream: true });
  for await (const piece of stream.toTextStream()) streamed += piece;
  await stream.completed;
  console.log(streamed);
} catch (error) {
  console.log(`refused: ${error.error?.type ?? error.type ?? error.message}`);
}
