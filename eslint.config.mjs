import eslint from "@eslint/js";
import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["dist/", "plugin/", "test/corpus/", "**/node_modules/", "coverage/"] },
  eslint.configs.recommended,
  {
    files: ["**/*.ts"],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/switch-exhaustiveness-check": [
        "error",
        { considerDefaultExhaustiveForUnions: true },
      ],
      "@typescript-eslint/no-unused-vars": ["error", { ignoreRestSiblings: true }],
      // A resource's inputs and outputs are derived from its fields, and keep a name of their own.
      "@typescript-eslint/no-empty-object-type": ["error", { allowInterfaces: "with-single-extends" }],
      "@typescript-eslint/no-unsafe-declaration-merging": "off",
    },
  },
  // Many callbacks of tests are one call that returns nothing.
  {
    files: ["test/**/*.ts"],
    rules: { "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }] },
  },
  {
    files: ["**/*.mjs", "**/*.js", "**/*.cjs"],
    languageOptions: {
      globals: Object.fromEntries(
        [
          "AbortSignal",
          "process",
          "console",
          "URL",
          "URLSearchParams",
          "fetch",
          "Buffer",
          "setTimeout",
          "require",
          "module",
          "exports",
          "__dirname",
          "__filename",
        ].map((name) => [name, "readonly"]),
      ),
    },
  },
);
