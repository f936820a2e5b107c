import type { Settings } from "../../api/settings";
import { shellWord } from "./quoting";

/**
 * The commands between a new project's files and its first preview.
 *
 * @param installing those that install the packages
 */
export function startCommands(settings?: Addresses, installing = ["npm install"]): string[] {
  return [
    ...installing,
    "export PULUMI_RUN_PROGRAM=true",
    "pulumi stack init dev",
    ...settingCommands(settings),
    "npx --no pulumi-uptime doctor",
  ];
}

type Addresses = Pick<Settings, "baseUrl" | "monitorsBaseUrl" | "allowHttp">;

/** The commands that set the server's address and the key. */
export function settingCommands({ baseUrl, monitorsBaseUrl, allowHttp }: Partial<Addresses> = {}): string[] {
  const set = (name: string, value: string): string => `pulumi config set uptime:${name} ${shellWord(value)}`;
  const hasOwnMonitors = monitorsBaseUrl !== undefined && monitorsBaseUrl.url !== baseUrl?.url;
  return [
    set("baseUrl", baseUrl?.url ?? "https://uptime.example.com"),
    ...(hasOwnMonitors ? [set("monitorsBaseUrl", monitorsBaseUrl.url)] : []),
    ...(allowHttp ? [set("allowHttp", "true")] : []),
    setSecret("uptime:apiKey"),
  ];
}

/** The command that sets a secret, for which it asks. */
export const setSecret = (key: string): string => `pulumi config set --secret ${shellWord(key)}`;
