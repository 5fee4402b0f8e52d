// What this plugin uses of OpenClaw's plugin interface (2026.9.6), and no more. Everything that comes from the gateway
// is optional here, whatever its own types say: payloads differ from path to path.

export type Logger = {
  debug?: (message: string) => void;
  info: (message: string) => void;
  warn: (message: string) => void;
  error: (message: string) => void;
};

export type HookContext = {
  agentId?: string;
  sessionKey?: string;
  sessionId?: string;
  workspaceDir?: string;
  runId?: string;
  contextTokenBudget?: number;
};

export type CompactionEvent = {
  messageCount?: number;
  tokenCount?: number;
  compactedCount?: number;
  messages?: unknown[];
  sessionFile?: string;
  previousSessionId?: string;
};

export type Usage = { input?: number; output?: number; cacheRead?: number; cacheWrite?: number; total?: number };

export type LlmOutputEvent = {
  runId?: string;
  model?: string;
  resolvedRef?: string;
  contextTokenBudget?: number;
  usage?: Usage;
  lastAssistant?: unknown;
};

export type ReplyEvent = {
  payload?: { text?: string };
  kind?: string;
  sessionKey?: string;
  runId?: string;
  usageState?: {
    agentId?: string;
    sessionId?: string;
    resolvedRef?: string;
    model?: string;
    contextTokenBudget?: number;
    lastUsage?: Usage;
  };
};

export type ResetEvent = { messages?: unknown[]; reason?: string };

export type CommandContext = {
  args?: string;
  agentId?: string;
  sessionKey?: string;
  sessionId?: string;
};

export type ToolContext = { agentId?: string; sessionKey?: string; sessionId?: string; workspaceDir?: string };

export type ToolResult = { content: { type: "text"; text: string }[]; details?: unknown };

export type Tool = {
  name: string;
  label: string;
  description: string;
  parameters: unknown;
  execute: (toolCallId: string, params: unknown) => Promise<ToolResult>;
};

export type Config = {
  agents?: {
    defaults?: { userTimezone?: string; compaction?: { reserveTokens?: number } };
  };
  plugins?: { entries?: Record<string, { hooks?: { allowConversationAccess?: boolean } } | undefined> };
};

export type Api = {
  registrationMode?: string;
  config?: Config;
  pluginConfig?: Record<string, unknown>;
  logger: Logger;
  runtime?: {
    version?: string;
    config?: { current?: () => Config };
    agent?: {
      resolveAgentWorkspaceDir?: (config: Config, agentId: string) => string;
      session?: {
        getSessionEntry?: (params: { agentId?: string; sessionKey: string }) => { sessionId?: string } | undefined;
      };
    };
  };
  on: (hook: string, handler: (event: any, context: any) => unknown, options?: object) => void;
  registerCommand?: (command: {
    name: string;
    description: string;
    acceptsArgs?: boolean;
    handler: (context: CommandContext) => { text: string } | Promise<{ text: string }>;
  }) => void;
  registerTool?: (factory: (context: ToolContext) => Tool | null, options: { name: string }) => void;
};

/** `openclaw/plugin-sdk/session-store-runtime` */
export type SessionStore = {
  loadTranscriptEventsSync: (params: { agentId?: string; sessionKey?: string; sessionId: string }) => unknown[];
};
