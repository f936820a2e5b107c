/**
 * All names that a stack's configuration may set, after `uptime:`. They are in a file of their own because the program
 * needs them too, and what reads the settings would load a validation library into it.
 */
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
