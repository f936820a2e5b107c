/** What is looked up in the schema. */
export interface Schema {
  resources: Record<
    string,
    {
      inputProperties: Record<string, { secret?: boolean }>;
      requiredInputs: string[];
      aliases: { type: string }[];
    }
  >;
  types: Record<string, { enum?: { value: string }[] }>;
  functions: Record<string, unknown>;
  provider: { inputProperties: Record<string, { secret?: boolean }> };
}

const shortName = (token: string): string => token.split(":").at(-1) ?? "";
const capital = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);
const secretsIn = (properties: Record<string, { secret?: boolean }>): string[] =>
  Object.keys(properties)
    .filter((key) => properties[key]?.secret)
    .sort();

/** Checks the C# that was generated from a schema, by file, for what a program and its compiler need. */
export function checkCSharp(schema: Schema, code: ReadonlyMap<string, string>): void {
  for (const [token, { inputProperties, requiredInputs, aliases }] of Object.entries(schema.resources)) {
    const name = shortName(token);
    const source = code.get(`${name}.cs`) ?? "";
    expect(source).toContain(`[UptimeResourceType("${token}")]`);
    for (const { type } of aliases) expect(source).toContain(`new global::Pulumi.Alias { Type = "${type}" }`);
    const [, args = ""] = source.split(`public sealed class ${name}Args `);
    for (const key of Object.keys(inputProperties)) {
      const attribute = requiredInputs.includes(key)
        ? `[Input("${key}", required: true)]`
        : `[Input("${key}")]`;
      expect(args).toContain(attribute);
      expect(args).toMatch(new RegExp(`public Input[^;{}]* ${capital(key)}\\s`));
      expect(source).toMatch(new RegExp(`public Output\\S+ ${capital(key)} { get; private set; }`));
    }
    const secrets = secretsIn(inputProperties);
    const [, secretOutputs = ""] = /AdditionalSecretOutputs =\s*\{([^}]*)\}/.exec(source) ?? [];
    expect([...secretOutputs.matchAll(/"(\w+)"/g)].map(([, key]) => key).sort()).toEqual(secrets);
    expect(args.match(/CreateSecret/g) ?? []).toHaveLength(secrets.length);
  }
  const provider = code.get("Provider.cs") ?? "";
  const secrets = secretsIn(schema.provider.inputProperties);
  expect(secrets).toEqual(["accounts", "apiKey"]);
  expect(provider.match(/CreateSecret/g)).toHaveLength(secrets.length);

  const enums = code.get("Enums.cs") ?? "";
  for (const [token, { enum: values }] of Object.entries(schema.types))
    for (const { value } of values ?? []) {
      const name = shortName(token);
      expect(enums).toContain(`public static ${name} ${capital(value)} { get; } = new ${name}("${value}");`);
    }
  for (const token of Object.keys(schema.functions))
    expect(code.get(`${capital(shortName(token))}.cs`)).toContain(`Invoke`);

  // A member may be called neither like its class nor like another member (CS0542, CS0102).
  for (const [file, source] of code) {
    const classes = source.split(/public (?:static |sealed |partial |readonly )*(?:class|struct) /).slice(1);
    for (const body of classes) {
      const [name] = /^\w+/.exec(body) ?? [];
      const members = body.matchAll(
        /^ {8}public (?:static |readonly |new )*[^\s(]+ ([A-Z]\w*)(?= [{=]|;|$)/gm,
      );
      const names = [...members].map(([, member]) => member);
      expect({ file, name, names }).toEqual({ file, name, names: [...new Set(names)] });
      expect(names).not.toContain(name);
    }
  }
}

/** Checks the Java that was generated from a schema, by file, for what a program needs. */
export function checkJava(schema: Schema, code: ReadonlyMap<string, string>): void {
  for (const [token, { inputProperties, requiredInputs, aliases }] of Object.entries(schema.resources)) {
    const name = shortName(token);
    const [source = "", args = ""] = [`${name}.java`, `${name}Args.java`].map((file) => code.get(file));
    expect(source).toContain(`@ResourceType(type="${token}")`);
    for (const { type } of aliases) expect(source).toContain(`Alias.builder().type("${type}").build()`);
    for (const key of Object.keys(inputProperties)) {
      expect(args).toContain(
        `@Import(name="${key}"${requiredInputs.includes(key) ? ", required=true" : ""})`,
      );
      expect(source).toContain(`@Export(name="${key}", `);
    }
    const [, secretOutputs = ""] = /additionalSecretOutputs\(List\.of\(([^)]*)\)/.exec(source) ?? [];
    expect([...secretOutputs.matchAll(/"(\w+)"/g)].map(([, key]) => key).sort()).toEqual(
      secretsIn(inputProperties),
    );
  }
  for (const [token, { enum: values }] of Object.entries(schema.types))
    for (const { value } of values ?? [])
      expect(code.get(`enums/${shortName(token)}.java`)).toMatch(new RegExp(`\\w+\\("${value}"\\)[,;]`));
  for (const token of Object.keys(schema.functions))
    expect(code.get("UptimeFunctions.java")).toContain(`"${token}"`);
}
