import { home } from "../support/monitors";
import { recordOf, startStack, writesTo, yamlOf } from "../support/stack";
import { sample } from "../support/size";

// The engine asks `diff` of what depends on a resource that it deletes first or for a target, also if it deletes that a moment
// later: only `check` says that the program declares a resource.
const languages = sample<("js" | "yaml")[]>(["js"], ["js"], ["js", "yaml"]);
const urns = { js: "pulumi-nodejs:dynamic/uptime:Domain", yaml: "uptime:index:Domain" };

/** A domain, and monitors whose URL is made from it. */
function programOf(language: "js" | "yaml", monitors: readonly string[], domain = "shop.example"): string {
  if (language === "yaml")
    return yamlOf({
      shop: { type: "uptime:Domain", properties: { name: domain }, options: { deleteBeforeReplace: true } },
      ...Object.fromEntries(
        monitors.map((name) => {
          const properties = { ...home, name, url: "https://${shop.name}/" + name };
          return [name, { type: "uptime:Monitor", properties }];
        }),
      ),
    });
  const lines = monitors.map(
    (name) =>
      `new Monitor("${name}", { name: "${name}", url: pulumi.interpolate\`https://\${shop.name}/${name}\`, interval: 60 });`,
  );
  return `const pulumi = require("@pulumi/pulumi");
    const { Domain, Monitor } = require("pulumi-uptime");
    const shop = new Domain("shop", { name: "${domain}" }, { deleteBeforeReplace: true });
    ${lines.join("\n")}`;
}

test.each(languages)(
  "a record whose resource Pulumi deletes with what it depends on is deleted (%s)",
  async (language) => {
    const write = (...given: [string[], string?]) => workspace.write(programOf(language, ...given));
    const { emulator, workspace } = await startStack({
      language,
      program: programOf(language, ["one", "two"]),
    });
    await workspace.up();
    const [one, two] = ["one", "two"].map(
      (name) => `DELETE /api/v1/monitors/${String(recordOf(emulator.monitors, name)?.id)}`,
    );
    const urn = `urn:pulumi:test::workspace::${urns[language]}::shop`;

    // It leaves the program in a run for what it depends on.
    await write(["one"]);
    emulator.forget();
    await workspace.up("--target", urn, "--target-dependents");
    expect(writesTo(emulator)).toEqual([two]);

    // It leaves the program in the run that replaces what it depends on.
    await write([], "other.example");
    emulator.forget();
    await workspace.up();
    expect(writesTo(emulator).sort()).toEqual(["DELETE /api/v1/domains/1", one, "POST /api/v1/domains"]);

    await write(["one", "two"], "other.example");
    await workspace.up();
    await workspace.destroy("--target", urn, "--target-dependents");
    expect([emulator.domains.size, emulator.monitors.size]).toEqual([0, 0]);
    expect(await workspace.resources()).toEqual({});
  },
);
