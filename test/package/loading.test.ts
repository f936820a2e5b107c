import { execFileSync } from "node:child_process";
import { join } from "node:path";

test("a program without lookups loads neither HTTP nor the validation of settings", () => {
  const built = JSON.stringify(join(__dirname, "..", "..", "dist", "provider", "index.js"));
  const source = `require(${built}); console.log(JSON.stringify(Object.keys(require.cache)))`;
  const loaded = JSON.parse(execFileSync(process.execPath, ["-e", source], { encoding: "utf8" })) as string[];
  expect(loaded.some((path) => /[\\/]@pulumi[\\/]pulumi[\\/]/.test(path))).toBe(true);
  expect(loaded.filter((path) => /[\\/]node_modules[\\/](zod|undici|commander)[\\/]/.test(path))).toEqual([]);
});

test("the provider is one file, because Pulumi waits while it is loaded", () => {
  const built = join(__dirname, "..", "..", "dist", "provider", "provider.js");
  const source = `require(${JSON.stringify(built)}); console.log(JSON.stringify(Object.keys(require.cache)))`;
  const loaded = execFileSync(process.execPath, ["-e", source], { encoding: "utf8" });
  expect(JSON.parse(loaded)).toEqual([built]);
});
