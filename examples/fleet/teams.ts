import { Monitor } from "pulumi-uptime";

/** Each team has a stack of its own: the team's name, and the hosts that it runs. */
export const teams: Readonly<Record<string, readonly string[]>> = {
  accounts: ["login.orchard.example", "profile.orchard.example"],
  checkout: ["basket.orchard.example", "pay.orchard.example", "refund.orchard.example"],
  content: ["www.orchard.example", "blog.orchard.example"],
  data: ["reports.orchard.example"],
  delivery: ["track.orchard.example", "depots.orchard.example"],
  images: ["images.orchard.example"],
  search: ["search.orchard.example", "suggest.orchard.example"],
  support: ["help.orchard.example", "chat.orchard.example"],
};

/** The Pulumi program of a team's stack. */
export function program(team: string): Promise<Record<string, unknown>> {
  const monitors = (teams[team] ?? []).map(
    (host) => new Monitor(host, { name: `${team}: ${host}`, url: `https://${host}/health`, interval: 300 }),
  );
  return Promise.resolve({ monitorIds: monitors.map(({ id }) => id) });
}
