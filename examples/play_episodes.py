"""Play the episodes of ``turnwise env serve --dataset D --http PORT`` with the MCP client.

``python play_episodes.py http://127.0.0.1:PORT/mcp`` runs an agent that makes no call.
"""

import asyncio
import sys

from mcp import Client


async def agent(client, turn):
    """Do what the user asks with the tools, and return the answer. Put your agent here."""
    tools = (await client.list_tools()).tools
    return f"I have {len(tools)} tools, but would rather not use them."


async def play(url, agent):
    """Play one episode; return its end, with the verdict."""
    async with Client(url) as client:
        turn = (await client.call_tool("read_turn", {})).structured_content
        while not turn["done"]:
            answer = await agent(client, turn)
            turn = (await client.call_tool("finish_turn", {"answer": answer})).structured_content
    return turn


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("give the URL of the server, such as http://127.0.0.1:8000/mcp")
    end = asyncio.run(play(sys.argv[1], agent))
    print(end["entry"], end["verdict"]["valid"])
