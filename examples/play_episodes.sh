#!/bin/sh
# Play the episodes of `turnwise env serve --dataset D --http PORT` with curl and jq.
#
#     ./play_episodes.sh http://127.0.0.1:PORT 'my-agent'
#
# The agent is a command. It reads a step as JSON (messages, tools) and prints the answer as JSON:
# a text that ends the turn, or an assistant message with tool_calls.
set -eu
url=${1:?"give the URL of the server, such as http://127.0.0.1:8000"} agent=${2:-'echo "\"I would rather not.\""'}

post() { curl --silent --show-error --fail --retry 30 --retry-all-errors --retry-delay 1 --json @- "$url/episode"; }

step=$(echo '{}' | post)
while [ "$(printf "%s" "$step" | jq .episode)" != null ]; do
    while [ "$(printf "%s" "$step" | jq .done)" = false ]; do
        message=$(printf "%s" "$step" | sh -c "$agent")
        step=$(printf "%s" "$step" | jq --argjson message "$message" '{episode, step, $message}' | post)
    done
    printf "%s" "$step" | jq -r '"\(.entry) \(.verdict.valid)"'
    step=$(echo '{}' | post)
done
