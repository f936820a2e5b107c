import { fronts, Program } from "../support/program";
import { failureOf, storedIds, withServer } from "../support/server";

const declared = { name: "shop.example", homepageUrl: "https://shop.example/" };

withServer();

// Of a replacement by `--replace` or taint the engine asks no diff.
describe.each(fronts)("a domain that is replaced without a diff (%s)", (front) => {
  test.each(["shop.example", "Shop.EXAMPLE"])(
    "is deleted first with deleteBeforeReplace: %s",
    async (name) => {
      const program = new Program(front);
      const one = program.resource("domain");
      await one.up(declared);
      program.nextRun();
      await one.replace({ ...declared, name });
      expect(storedIds("domain")).toEqual(["2"]);
      expect(one.state?.id).toBe("2");
    },
  );

  test.each(["shop.example", "Shop.EXAMPLE"])(
    "is else an error that names deleteBeforeReplace: %s",
    async (name) => {
      const program = new Program(front);
      await program.resource("domain").up(declared);
      program.nextRun();
      const failure = await failureOf(program.resource("domain").up({ ...declared, name }));
      expect(failure).toMatch(
        /status 422.* as with `pulumi up --replace`, give the resource the option deleteBeforeReplace/,
      );
      expect(storedIds("domain")).toEqual(["1"]);
    },
  );
});
