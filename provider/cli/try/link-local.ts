import dns from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";

/** An address on this machine's own network link. Clouds serve a machine's credentials there. */
export class LinkLocalError extends Error {}

const linkLocal = new BlockList();
linkLocal.addSubnet("fe80::", 10, "ipv6");
// Some clouds serve credentials at others as well, which therefore count as link-local here: AWS, Google Cloud, and below Alibaba
// Cloud, Azure and Oracle Cloud.
linkLocal.addSubnet("fd00:ec2::", 32, "ipv6");
linkLocal.addAddress("fd20:ce::254", "ipv6");
for (const [address, bits] of [
  ["169.254.0.0", 16],
  ["100.100.100.200", 32],
  ["168.63.129.16", 32],
  ["192.0.0.192", 32],
] as const) {
  // BlockList itself knows IPv4 addresses that are written as IPv6, but not those of NAT64.
  linkLocal.addSubnet(address, bits);
  linkLocal.addSubnet(`64:ff9b::${address}`, 96 + bits, "ipv6");
}

/** Whether a text is a link-local IP address, in any of its forms; false for a host name. */
export function isLinkLocal(host: string): boolean {
  // A link-local address may name its network interface.
  const address = host.replace(/^\[|\]$/g, "").replace(/%.*$/, "");
  const version = isIP(address);
  return version !== 0 && linkLocal.check(address, version === 6 ? "ipv6" : "ipv4");
}

/** Looks up a host name for a connection; a link-local address is an error, so that there is no connection to one. */
export const lookupAllowed: LookupFunction = (host, options, done) => {
  dns.lookup(host, options, (error, found, family) => {
    const addresses = typeof found === "string" ? [found] : error ? [] : found.map(({ address }) => address);
    if (addresses.some(isLinkLocal)) done(new LinkLocalError(), []);
    else done(error, found, family);
  });
};

/** Whether a host is, or its name stands for, a link-local address. False for a name that cannot be looked up. */
export function leadsToLinkLocal({ hostname }: URL): Promise<boolean> {
  if (isLinkLocal(hostname)) return Promise.resolve(true);
  return new Promise((resolve) => {
    lookupAllowed(hostname.replace(/^\[|\]$/g, ""), { all: true }, (error) => {
      resolve(error instanceof LinkLocalError);
    });
  });
}
