import { readFileSync } from "node:fs";
import { join } from "node:path";

import { oldestNode, problemOfNode } from "../../provider/common/node-version";

const root = join(__dirname, "..", "..");
const json = (name: string) => JSON.parse(readFileSync(join(root, name), "utf8")) as unknown;

interface Locked {
  license?: string;
  integrity?: string;
  link?: boolean;
  dev?: boolean;
  devOptional?: boolean;
  peer?: boolean;
  hasInstallScript?: boolean;
}
const { packages } = json("package-lock.json") as { packages: Record<string, Locked> };
const locked = Object.entries(packages).filter(([path, { link }]) => path !== "" && !link);

describe("what is installed with the package", () => {
  const production = locked.filter(([, { dev, devOptional, peer }]) => !dev && !devOptional && !peer);

  test("is the dependencies alone, under free licences", () => {
    const { dependencies } = json("package.json") as { dependencies: Record<string, string> };
    const names = production.map(([path]) => path.replace("node_modules/", ""));
    // Each of these is a decision: what brings others with it shows here.
    expect(names.sort()).toEqual(Object.keys(dependencies).sort());
    const free = ["MIT", "Apache-2.0", "ISC", "BSD-2-Clause", "BSD-3-Clause"];
    expect(production.filter(([, { license = "" }]) => !free.includes(license))).toEqual([]);
  });

  test("runs nothing when it is installed", () => {
    expect(production.filter(([, { hasInstallScript }]) => hasInstallScript)).toEqual([]);
  });
});

test("the lockfile pins each package by what is in it, and names no registry", () => {
  expect(locked.length).toBeGreaterThan(100);
  const unpinned = locked.filter(([, { integrity }]) => !integrity);
  expect(unpinned.map(([path]) => path)).toEqual([]);
  expect(readFileSync(join(root, "package-lock.json"), "utf8")).not.toContain('"resolved": "http');
});

test("each process refuses a Node.js older than the one that package.json names", () => {
  const { engines } = json("package.json") as { engines: { node: string } };
  expect(engines.node).toBe(`>=${oldestNode}`);
  const old = ["0.10.48", "18.20.8", "20.9.0", "20.17.9"];
  for (const version of old)
    expect(problemOfNode(version)).toContain(`20.18 or later, and this is ${version}:`);
  const supported = ["20.18.0", "20.20.2", "21.0.0", "22.1.0", "24.0.0", process.versions.node];
  expect(supported.map((version) => problemOfNode(version))).toEqual(supported.map(() => undefined));
});
