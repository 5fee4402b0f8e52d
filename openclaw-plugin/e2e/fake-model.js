// A model on loopback: OpenAI's chat completions with streaming and usage. It answers as it was told and records every
// request with its time, which is what the tests assert on.

import { createServer } from "node:http";

/**
 * @typedef {object} ModelRequest
 * @property {number} at when it arrived, in unix milliseconds
 * @property {"summary" | "turn"} kind
 * @property {string} text all text of its messages
 * @property {string} lastUser the text of the last message of the user
 * @property {{role: string, content: unknown}[]} messages
 * @property {string[]} tools names of the tools that were offered
 *
 * @typedef {object} Answer
 * @property {string} [text]
 * @property {{name: string, arguments: unknown}} [toolCall]
 * @property {number} [promptTokens] what the usage says; counted from the request where it is left out
 * @property {"overflow"} [refuse] answer as a provider does whose context is exceeded
 * @property {Promise<unknown>} [after] answer when this has settled
 *
 * @typedef {(request: ModelRequest) => Answer | undefined} Rule
 */

/** How the gateway's summarizer begins its system prompt. */
const SUMMARIZER = "You are a context summarization assistant";

export class FakeModel {
  /** @type {ModelRequest[]} */
  requests = [];
  /** @type {Rule[]} */
  rules = [];
  #server = createServer((request, response) => {
    this.#serve(request, response).catch((error) => {
      console.error("fake model:", error);
      response.destroy();
    });
  });

  /** @returns {Promise<number>} the port */
  async start() {
    await new Promise((resolve) => this.#server.listen(0, "127.0.0.1", () => resolve(undefined)));
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("the fake model has no port");
    return address.port;
  }

  stop() {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /**
   * Answers from now on by this rule; where it gives nothing, by the rules before it.
   * @param {Rule} rule
   */
  rule(rule) {
    this.rules.unshift(rule);
  }

  /**
   * Answers the summarizer of conversations that contain the marker.
   * @param {string} marker
   * @param {string | ((request: ModelRequest) => Answer)} summary
   */
  summarize(marker, summary) {
    this.rule((request) => {
      if (request.kind !== "summary" || !request.text.includes(marker)) return undefined;
      return typeof summary === "string" ? { text: summary } : summary(request);
    });
  }

  /**
   * The requests with a text in them.
   * @param {string} marker
   * @param {"summary" | "turn"} [kind]
   */
  with(marker, kind) {
    return this.requests.filter((r) => r.text.includes(marker) && (kind === undefined || r.kind === kind));
  }

  /**
   * @param {import("node:http").IncomingMessage} request
   * @param {import("node:http").ServerResponse} response
   */
  async #serve(request, response) {
    const at = Date.now();
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    if (request.method !== "POST" || !request.url?.endsWith("/chat/completions")) {
      response.writeHead(404).end();
      return;
    }
    const body = JSON.parse(Buffer.concat(chunks).toString("utf8"));
    const seen = read(body, at);
    this.requests.push(seen);
    let answer = { text: "Noted." };
    for (const rule of this.rules) {
      const found = rule(seen);
      if (found !== undefined) {
        answer = /** @type {typeof answer} */ (found);
        break;
      }
    }
    await /** @type {Answer} */ (answer).after;
    if (/** @type {Answer} */ (answer).refuse === "overflow") refuse(response);
    else if (body.stream) stream(response, body, seen, answer);
    else whole(response, body, seen, answer);
  }
}

/**
 * @param {any} body
 * @param {number} at
 * @returns {ModelRequest}
 */
function read(body, at) {
  const messages = Array.isArray(body.messages) ? body.messages : [];
  const texts = messages.map((/** @type {any} */ message) => textOf(message.content));
  const users = messages.filter((/** @type {any} */ message) => message.role === "user");
  return {
    at,
    kind: texts.some((/** @type {string} */ text) => text.startsWith(SUMMARIZER)) ? "summary" : "turn",
    text: texts.join("\n"),
    lastUser: textOf(users.at(-1)?.content),
    messages,
    tools: (body.tools ?? []).map((/** @type {any} */ tool) => tool.function?.name ?? tool.name),
  };
}

/** @param {any} content @returns {string} */
function textOf(content) {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part) => (typeof part.text === "string" ? part.text : "")).join("\n");
}

/** @param {ModelRequest} request @param {Answer} answer */
function usage(request, answer) {
  const prompt = answer.promptTokens ?? Math.ceil(request.text.length / 4);
  const completion = Math.ceil((answer.text ?? "").length / 4) + 1;
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}

/** @param {import("node:http").ServerResponse} response */
function refuse(response) {
  const message = "This model's maximum context length is 64000 tokens. Please reduce the length of the messages.";
  response.writeHead(400, { "content-type": "application/json" });
  response.end(JSON.stringify({ error: { message, type: "invalid_request_error", code: "context_length_exceeded" } }));
}

/** @param {Answer} answer */
function toolCalls(answer) {
  if (answer.toolCall === undefined) return undefined;
  const { name, arguments: args } = answer.toolCall;
  return [{ index: 0, id: `call_${Math.random().toString(36).slice(2, 10)}`, type: "function", function: { name, arguments: JSON.stringify(args) } }];
}

/**
 * @param {import("node:http").ServerResponse} response
 * @param {any} body
 * @param {ModelRequest} request
 * @param {Answer} answer
 */
function stream(response, body, request, answer) {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  const head = { id: "chatcmpl-1", object: "chat.completion.chunk", created: Math.floor(request.at / 1000), model: body.model };
  const send = (/** @type {unknown} */ data) => response.write(`data: ${JSON.stringify(data)}\n\n`);
  const calls = toolCalls(answer);
  send({ ...head, choices: [{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }] });
  if (answer.text) send({ ...head, choices: [{ index: 0, delta: { content: answer.text }, finish_reason: null }] });
  if (calls) send({ ...head, choices: [{ index: 0, delta: { tool_calls: calls }, finish_reason: null }] });
  send({ ...head, choices: [{ index: 0, delta: {}, finish_reason: calls ? "tool_calls" : "stop" }] });
  send({ ...head, choices: [], usage: usage(request, answer) });
  response.end("data: [DONE]\n\n");
}

/**
 * @param {import("node:http").ServerResponse} response
 * @param {any} body
 * @param {ModelRequest} request
 * @param {Answer} answer
 */
function whole(response, body, request, answer) {
  const calls = toolCalls(answer);
  const message = { role: "assistant", content: answer.text ?? null, ...(calls ? { tool_calls: calls } : {}) };
  response.writeHead(200, { "content-type": "application/json" });
  response.end(
    JSON.stringify({
      id: "chatcmpl-1",
      object: "chat.completion",
      created: Math.floor(request.at / 1000),
      model: body.model,
      choices: [{ index: 0, message, finish_reason: calls ? "tool_calls" : "stop" }],
      usage: usage(request, answer),
    }),
  );
}
