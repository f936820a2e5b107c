import { execFileSync } from "node:child_process";
import { join } from "node:path";

const builtFile = (name: string): string => join(__dirname, "..", "..", "dist", "provider", name);

/** The files that a module of the build loads. */
function loadedBy(file: string): string[] {
  const source = `require(${JSON.stringify(file)}); console.log(JSON.stringify(Object.keys(require.cache)))`;
  return JSON.parse(execFileSync(process.execPath, ["-e", source], { encoding: "utf8" })) as string[];
}

test("a program without lookups loads neither HTTP nor the validation of settings", () => {
  const loaded = loadedBy(builtFile("index.js"));
  expect(loaded.some((path) => /[\\/]@pulumi[\\/]pulumi[\\/]/.test(path))).toBe(true);
  expect(loaded.filter((path) => /[\\/]node_modules[\\/](zod|undici|commander)[\\/]/.test(path))).toEqual([]);
});

test("the provider is one file, because Pulumi waits while it is loaded", () => {
  const provider = builtFile("provider.js");
  expect(loadedBy(provider)).toEqual([provider]);
});
