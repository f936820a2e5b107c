import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";

import type * as Grpc from "@grpc/grpc-js";
import type * as EngineService from "@pulumi/pulumi/proto/engine_grpc_pb";
import type * as EngineMessages from "@pulumi/pulumi/proto/engine_pb";
import type * as MonitorService from "@pulumi/pulumi/proto/resource_grpc_pb";
import type * as MonitorMessages from "@pulumi/pulumi/proto/resource_pb";
import type * as ProviderMessages from "@pulumi/pulumi/proto/provider_pb";
import type * as EmptyMessages from "google-protobuf/google/protobuf/empty_pb";
import type * as StructMessages from "google-protobuf/google/protobuf/struct_pb";

import { UptimeError } from "../../api/errors";
import type { Project } from "../shared/project";
import { firstWords } from "../shared/quoting";

/** A resource that a program registers. */
export interface RegisteredResource {
  readonly urn: string;
  readonly type: string;
  readonly name: string;
  /** The id of a resource that is only read, as by `Monitor.get`. */
  readonly readId: string | undefined;
  /** The id in the option `import`, if it is the engine that imports. */
  readonly importId: string | undefined;
  /** The explicit provider's URN and id, if it has one. */
  readonly provider: string | undefined;
  /** As the engine gets them: secrets and unknown values are marked. */
  readonly inputs: Readonly<Record<string, unknown>>;
  /** Other URNs that the resource may have in state. */
  readonly aliases: readonly string[];
}

/** The stack that the program is told to run for. */
export interface ProgramStack {
  readonly name: string;
  readonly config: ReadonlyMap<string, string>;
  readonly secretKeys: ReadonlySet<string>;
}

/** A function that the program calls. Undefined if it knows nothing, as in a preview. */
export interface CalledFunction {
  readonly token: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly provider: string | undefined;
  /** What the program has registered so far. */
  readonly registered: readonly RegisteredResource[];
}

export type Call = (called: CalledFunction) => Promise<Readonly<Record<string, unknown>> | undefined>;

/** What the program's own SDK is made of. */
function loadSdk(directory: string) {
  const load = createRequire(join(directory, "package.json"));
  let host: string;
  try {
    host = load.resolve("@pulumi/pulumi/cmd/run");
  } catch {
    throw new UptimeError(
      `@pulumi/pulumi is not installed in ${directory}. Run \`npm install\` there first.`,
    );
  }
  const sdk = createRequire(host);
  return {
    host,
    grpc: sdk("@grpc/grpc-js") as typeof Grpc,
    empty: sdk("google-protobuf/google/protobuf/empty_pb") as typeof EmptyMessages,
    struct: sdk("google-protobuf/google/protobuf/struct_pb") as typeof StructMessages,
    provider: sdk("../../proto/provider_pb") as typeof ProviderMessages,
    engine: {
      ...(sdk("../../proto/engine_grpc_pb") as typeof EngineService),
      messages: sdk("../../proto/engine_pb") as typeof EngineMessages,
    },
    monitor: {
      ...(sdk("../../proto/resource_grpc_pb") as typeof MonitorService),
      messages: sdk("../../proto/resource_pb") as typeof MonitorMessages,
    },
  };
}

type Sdk = ReturnType<typeof loadSdk>;

/**
 * Runs a program as Pulumi does in a preview, with the SDK's own host, but against a stand-in for the engine: it notes
 * what the program registers, and creates nothing.
 *
 * @param call carries out the functions that the program calls
 */
export async function runProgram(
  project: Project,
  stack: ProgramStack,
  env: NodeJS.ProcessEnv,
  call: Call,
): Promise<RegisteredResource[]> {
  const sdk = loadSdk(project.main);
  const engine = new RecordingEngine(sdk, project.name, stack.name, call);
  const address = await engine.listen();
  try {
    const { code, stderr } = await runHost(sdk, address, project, stack, env);
    if (code === 0) return engine.resources;
    const said = engine.errors.join(" ") || stderr || `it ended with code ${String(code)}`;
    throw new UptimeError(`The program in ${project.main} failed: ${firstWords(said)}`);
  } finally {
    engine.stop();
  }
}

function runHost(
  { host }: Sdk,
  address: string,
  { name, directory, main, runtimeOptions }: Project,
  stack: ProgramStack,
  env: NodeJS.ProcessEnv,
): Promise<{ code: number | null; stderr: string }> {
  const { nodeargs, typescript, tsconfig } = runtimeOptions;
  const nodeArguments =
    typeof nodeargs === "string" ? nodeargs.split(/\s+/).filter((argument) => argument !== "") : [];
  const args = {
    monitor: address,
    engine: address,
    project: name,
    stack: stack.name,
    organization: "organization",
    "root-directory": directory,
    pwd: main,
    parallel: "16",
  };
  const child = spawn(
    process.execPath,
    [
      ...nodeArguments,
      host,
      ...Object.entries(args).map(([key, value]) => `--${key}=${value}`),
      "--dry-run",
      ".",
    ],
    {
      cwd: main,
      env: {
        ...env,
        PULUMI_CONFIG: JSON.stringify(Object.fromEntries(stack.config)),
        PULUMI_CONFIG_SECRET_KEYS: JSON.stringify([...stack.secretKeys]),
        PULUMI_NODEJS_TYPESCRIPT: String(typescript !== false),
        // The preview checks types.
        PULUMI_NODEJS_TRANSPILE_ONLY: "true",
        ...(typeof tsconfig === "string" && { PULUMI_NODEJS_TSCONFIG_PATH: tsconfig }),
      },
      stdio: ["ignore", "ignore", "pipe"],
    },
  );
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      resolve({ code, stderr });
    });
  });
}

/** Answers a program as the engine does in a preview of new resources: inputs are known, everything else is unknown. */
class RecordingEngine {
  readonly resources: RegisteredResource[] = [];
  readonly errors: string[] = [];
  private readonly server: Grpc.Server;
  private rootUrn = "";

  constructor(
    private readonly sdk: Sdk,
    private readonly project: string,
    private readonly stack: string,
    private readonly call: Call,
  ) {
    this.server = new sdk.grpc.Server({
      "grpc.max_receive_message_length": -1,
      "grpc.max_send_message_length": -1,
    });
    this.server.addService(sdk.monitor.ResourceMonitorService, this.monitorMethods());
    this.server.addService(sdk.engine.EngineService, this.engineMethods());
  }

  async listen(): Promise<string> {
    const credentials = this.sdk.grpc.ServerCredentials.createInsecure();
    const port = await new Promise<number>((resolve, reject) => {
      this.server.bindAsync("127.0.0.1:0", credentials, (error, bound) => {
        if (error) reject(error);
        else resolve(bound);
      });
    });
    return `127.0.0.1:${port}`;
  }

  stop(): void {
    this.server.forceShutdown();
  }

  /** Methods that are not here are answered with "unimplemented", as by an older engine. */
  private monitorMethods(): Grpc.UntypedServiceImplementation {
    const { messages } = this.sdk.monitor;
    return {
      supportsFeature: answer((request: MonitorMessages.SupportsFeatureRequest) => {
        const response = new messages.SupportsFeatureResponse();
        response.setHassupport(
          ["secrets", "resourceReferences", "deletedWith", "replaceWith"].includes(request.getId()),
        );
        return response;
      }),
      registerResource: answer((request: MonitorMessages.RegisterResourceRequest) => {
        const urn = this.urnOf(request);
        const inputs = request.getObject();
        if (request.getCustom())
          this.resources.push({
            urn,
            type: request.getType(),
            name: request.getName(),
            readId: undefined,
            importId: request.getImportid() || undefined,
            provider: request.getProvider() || undefined,
            inputs: inputs?.toJavaScript() ?? {},
            aliases: request.getAliasurnsList(),
          });
        const response = new messages.RegisterResourceResponse();
        response.setUrn(urn);
        response.setObject(inputs);
        return response;
      }),
      readResource: answer((request: MonitorMessages.ReadResourceRequest) => {
        const urn = this.urnOf(request);
        const properties = request.getProperties();
        this.resources.push({
          urn,
          type: request.getType(),
          name: request.getName(),
          readId: request.getId(),
          importId: undefined,
          provider: request.getProvider() || undefined,
          inputs: properties?.toJavaScript() ?? {},
          aliases: [],
        });
        const response = new messages.ReadResourceResponse();
        response.setUrn(urn);
        response.setProperties(properties);
        return response;
      }),
      invoke: answer((request: MonitorMessages.ResourceInvokeRequest) => this.invoke(request)),
      call: answer(() => new this.sdk.provider.CallResponse()),
      registerResourceOutputs: answer(() => new this.sdk.empty.Empty()),
      signalAndWaitForShutdown: answer(() => new this.sdk.empty.Empty()),
    };
  }

  private async invoke(
    request: MonitorMessages.ResourceInvokeRequest,
  ): Promise<MonitorMessages.ResourceInvokeResponse | ProviderMessages.InvokeResponse> {
    const { messages } = this.sdk.monitor;
    const { CheckFailure, InvokeResponse } = this.sdk.provider;
    // Earlier SDKs have one response for both.
    const Response = "ResourceInvokeResponse" in messages ? messages.ResourceInvokeResponse : InvokeResponse;
    const response = new Response();
    try {
      const result = await this.call({
        token: request.getTok(),
        args: request.getArgs()?.toJavaScript() ?? {},
        provider: request.getProvider() || undefined,
        registered: this.resources,
      });
      if (!result) return response;
      const plain = JSON.parse(JSON.stringify(result)) as Record<string, StructMessages.JavaScriptValue>;
      response.setReturn(this.sdk.struct.Struct.fromJavaScript(plain));
    } catch (error) {
      if (!(error instanceof UptimeError)) throw error;
      response.setFailuresList([new CheckFailure().setReason(error.message)]);
    }
    return response;
  }

  private engineMethods(): Grpc.UntypedServiceImplementation {
    const { messages } = this.sdk.engine;
    return {
      log: answer((request: EngineMessages.LogRequest) => {
        if (request.getSeverity() === messages.LogSeverity.ERROR) this.errors.push(request.getMessage());
        return new this.sdk.empty.Empty();
      }),
      getRootResource: answer(() => {
        const response = new messages.GetRootResourceResponse();
        response.setUrn(this.rootUrn);
        return response;
      }),
      setRootResource: answer((request: EngineMessages.SetRootResourceRequest) => {
        this.rootUrn = request.getUrn();
        return new messages.SetRootResourceResponse();
      }),
    };
  }

  /** As the engine makes it: a child's type begins with the types of its parents, all but the stack. */
  private urnOf(request: { getType(): string; getName(): string; getParent(): string }): string {
    const [, , parents = ""] = request.getParent().split("::");
    const chain = parents === "" || parents === "pulumi:pulumi:Stack" ? "" : `${parents}$`;
    return `urn:pulumi:${this.stack}::${this.project}::${chain}${request.getType()}::${request.getName()}`;
  }
}

function answer<Request, Response>(method: (request: Request) => Response | Promise<Response>) {
  return (call: Grpc.ServerUnaryCall<Request, Response>, callback: Grpc.sendUnaryData<Response>): void => {
    void (async () => {
      try {
        callback(null, await method(call.request));
      } catch (error) {
        callback({ details: error instanceof Error ? error.message : String(error) });
      }
    })();
  };
}
