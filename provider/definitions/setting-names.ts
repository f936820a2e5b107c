/** All names that a stack's configuration may set, after `uptime:`. The program needs nothing else of the settings. */
export const settingNames = [
  "baseUrl",
  "monitorsBaseUrl",
  "apiKey",
  "accounts",
  "timeoutSeconds",
  "maxRetries",
  "maxConcurrency",
  "requestsPerMinute",
  "allowHttp",
  "goneStatuses",
  "adoptExisting",
  "movedFrom",
  "refreshAttributes",
  "logLevel",
] as const;
