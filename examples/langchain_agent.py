"""Evaluate a chat model of LangChain with bound tools: it returns an ``AIMessage`` each step."""

import os

import turnwise
from langchain.chat_models import init_chat_model


def langchain_agent(model):
    def agent(messages, tools):
        return model.bind_tools(tools).invoke(messages)

    return agent


if __name__ == "__main__":
    model = init_chat_model(os.environ["MODEL"])
    print(turnwise.evaluate(langchain_agent(model), categories="base", limit=10))
