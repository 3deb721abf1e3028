// Play the episodes of `turnwise env serve --dataset D --http PORT` from Node.
//
//     npm install @modelcontextprotocol/sdk
//     node play_episodes.mjs http://127.0.0.1:PORT/mcp answers.json
//
// The file has the calls and the answers of each turn, by entry. Replace `agent` with your own.
import { readFileSync } from "node:fs";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [url, file] = process.argv.slice(2);
const answers = JSON.parse(readFileSync(file, "utf8"));

async function agent(client, turn) {
  const { calls, answer } = answers[turn.entry][turn.turn];
  for (const call of calls) await client.callTool(call);
  return answer;
}

const client = new Client({ name: "example", version: "1.0.0" });
await client.connect(new StreamableHTTPClientTransport(new URL(url)));
for (;;) {
  let turn = (await client.callTool({ name: "read_turn", arguments: {} })).structuredContent;
  while (!turn.done) {
    const answer = await agent(client, turn);
    turn = (await client.callTool({ name: "finish_turn", arguments: { answer } })).structuredContent;
  }
  console.log(turn.entry, turn.verdict.valid);
  try {
    await client.callTool({ name: "next_episode", arguments: {} });
  } catch {
    break; // no episode is left
  }
}
await client.close();
