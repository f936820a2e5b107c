import { sample } from "../support/size";
import { domainOf, programOf, startStack, yamlOf } from "../support/stack";

const languages = sample<("js" | "yaml")[]>(["yaml"], ["yaml"], ["yaml", "js"]);

test.each(languages)(
  "a domain is replaced by one of the same name, in any letter case, or the error says how (%s)",
  async (language) => {
    const program = (name: string, more: object, options = {}): string => {
      const args = { name, ...more };
      return language === "js"
        ? programOf([domainOf("shop", args, options)])
        : yamlOf({ shop: { type: "uptime:Domain", properties: args, options } });
    };
    const replaceOnChanges = ["homepageUrl"];
    const first = program("shop.example", { homepageUrl: "https://a.example/" }, { replaceOnChanges });
    const { emulator, workspace } = await startStack({ language, program: first });
    const expectOnly = (id: number, name: string): void =>
      expect(emulator.domains.all()).toMatchObject([{ id, name }]);
    await workspace.up();
    const homepage = { homepageUrl: "https://b.example/" };
    await workspace.write(program("Shop.Example", homepage, { replaceOnChanges }));
    await workspace.up();
    expectOnly(2, "Shop.Example");

    // Here the engine asks for no diff.
    const urn = (await workspace.resources()).shop?.urn ?? "";
    await workspace.write(program("shop.example", homepage));
    expect(await workspace.failed("up", "--replace", urn)).toContain("set the option deleteBeforeReplace");
    expectOnly(2, "Shop.Example");
    await workspace.write(program("shop.example", homepage, { deleteBeforeReplace: true }));
    await workspace.up("--replace", urn);
    expectOnly(3, "shop.example");
    await workspace.pulumi("state", "taint", urn, "--yes");
    await workspace.up();
    expectOnly(4, "shop.example");
    await workspace.preview("--refresh", "--run-program", "--expect-no-changes");
  },
);
