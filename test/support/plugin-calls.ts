import { isDeepStrictEqual } from "node:util";

import type { ServiceError, UntypedServiceImplementation as Methods } from "@grpc/grpc-js";
import * as proto from "@pulumi/pulumi/proto/provider_pb";
import { Status } from "@pulumi/pulumi/proto/status_pb";
import type { Message } from "google-protobuf";
import { Empty } from "google-protobuf/google/protobuf/empty_pb";
import { Struct, type JavaScriptValue } from "google-protobuf/google/protobuf/struct_pb";

import { hiddenNames } from "../../provider/common/pulumi";
import { collectVariable } from "../../provider/engine/collecting-front";
import type { EngineLog } from "../../provider/engine/engine-log";
import { methodsOf } from "../../provider/engine/plugin/grpc";
import { PluginRun } from "../../provider/engine/plugin/run";
import { noNote } from "../../provider/lifecycle/run-note";
import type { SessionDependencies } from "../../provider/lifecycle/session";
import { assertText, finish, isWellFormed, OperationFailed, revealed, wire } from "./calls";
import type { Properties, Provider, ProviderNames, ProviderProcess, Settings, StartProcess } from "./calls";
import { engineUnknowns, isMarked, secret, sigKey } from "./marks";

/** A method as grpc-js calls it, as far as ours need it. */
type UnaryMethod<Request, Response> = (
  call: { readonly request: Request },
  answer: (error: Partial<ServiceError> | null, response?: Response | null) => void,
) => void;

/** A message's class. */
interface MessageType<T> {
  deserializeBinary(bytes: Uint8Array): T;
}

/** The provider plugin in a process of its own. If it is attached, one process serves several runs. */
export class PluginProcess {
  private runs = 0;
  private readonly methods: Methods;
  private present: PluginRun | undefined;
  private configured = Promise.resolve();

  /** @param providerName of an explicit provider */
  constructor(
    surroundings: SessionDependencies,
    private readonly providerName?: string,
  ) {
    const engine: EngineLog = {
      address: undefined,
      attach: (address: string) => (engine.address = address),
      log: (_severity: string, message: string) => surroundings.print?.(message),
      flush: () => Promise.resolve(),
    } as unknown as EngineLog;
    this.methods = methodsOf(engine, "1.0.0", {
      // Tests that run beside this one have an engine at the same address, and must not share a note with it.
      newRun: () => {
        const env = { [collectVariable]: process.env[collectVariable] };
        return (this.present = new PluginRun(engine, env, { runNote: noNote, ...surroundings }));
      },
      schema: () => "",
    });
  }

  /** Begins a run, with an engine of its own, as a program in YAML or `pulumi do` does. */
  begin(settings: Settings, address = `127.0.0.1:${++this.runs}`, isDo = false): ProviderProcess {
    const handshake = new proto.ProviderHandshakeRequest().setEngineAddress(address);
    void call(this.methods, "handshake", handshake, proto.ProviderHandshakeResponse);
    this.configured = configure(this.methods, settings, isDo, this.providerName);
    const ofType = (type: string): Provider => nativeCalls(this.methods, type, this.configured);
    return {
      domain: ofType("uptime:index:Domain"),
      monitor: ofType("uptime:index:Monitor"),
      cancel: () => this.cancel(),
      finish: async () => {
        if (this.present) await finish(this.present.session);
      },
      isAnotherAccount: (old, present, names) => this.isAnotherAccount(old, present, names),
    };
  }

  private async isAnotherAccount(old: Settings, present: Settings, names: ProviderNames): Promise<boolean> {
    const request = new proto.DiffRequest()
      .setUrn(providerUrn(names.present))
      .setOldInputs(structOf(await checkConfig(this.methods, old, names.old)))
      .setNews(structOf(await checkConfig(this.methods, present, names.present)));
    const response = await call(this.methods, "diffConfig", request, proto.DiffResponse);
    return response.getReplacesList().length > 0;
  }

  /** Calls a function, such as `uptime:index:getMonitors`. Its result keeps the marks of secrets. */
  async invoke(token: string, args: Properties): Promise<Properties> {
    await this.configured;
    const request = new proto.InvokeRequest().setTok(token).setArgs(structOf(args));
    const result = (await call(this.methods, "invoke", request, proto.InvokeResponse)).getReturn();
    propertiesIn(result);
    return result?.toJavaScript() ?? {};
  }

  /** Asks for a page of a list, as the engine asks for it; the answer is what it gets, in this order. */
  async list(
    token: string,
    query: Properties,
    { limit = 0, pageSize = 0, continuation = "" } = {},
  ): Promise<proto.ListResponse.AsObject[]> {
    await this.configured;
    const request = new proto.ListRequest().setToken(token).setQuery(structOf(query));
    request.setLimit(limit).setPageSize(pageSize).setContinuationToken(continuation);
    const parts: proto.ListResponse.AsObject[] = [];
    return new Promise((resolve, reject) => {
      const method = this.methods.list as unknown as (call: object) => void;
      method({
        request: proto.ListRequest.deserializeBinary(request.serializeBinary()),
        write: (part: proto.ListResponse) => {
          parts.push(proto.ListResponse.deserializeBinary(part.serializeBinary()).toObject());
        },
        end: () => resolve(parts),
        emit: (_event: "error", error: Partial<ServiceError>) => reject(failureIn(error)),
      });
    });
  }

  /** What the engine sends at the first Ctrl-C, and at the end of every run. */
  async cancel(): Promise<void> {
    await call(this.methods, "cancel", new Empty(), Empty);
  }
}

export const startPlugin: StartProcess = (settings, surroundings) =>
  new PluginProcess(surroundings).begin(settings);

/** As through gRPC, with the messages in their binary form. */
async function call<Response extends Message>(
  methods: Methods,
  name: string,
  request: Message,
  responseType: MessageType<Response>,
): Promise<Response> {
  const requestType = request.constructor as unknown as MessageType<Message>;
  return new Promise((resolve, reject) => {
    const method = methods[name] as unknown as UnaryMethod<Message, Response>;
    method({ request: requestType.deserializeBinary(request.serializeBinary()) }, (error, response) => {
      try {
        if (response) resolve(responseType.deserializeBinary(response.serializeBinary()));
        else throw failureIn(error ?? {});
      } catch (failure) {
        reject(failure instanceof Error ? failure : new Error(String(failure)));
      }
    });
  });
}

const providerUrn = (name = "default"): string =>
  `urn:pulumi:stack::project::pulumi:providers:uptime::${name}`;

const withoutPrefix = (settings: Settings): Properties =>
  Object.fromEntries(Object.entries(settings).map(([key, value]) => [key.replace("uptime:", ""), value]));

/** @param settings as they are in a stack's configuration */
async function checkConfig(methods: Methods, settings: Settings, name?: string): Promise<Properties> {
  const checking = new proto.CheckRequest()
    .setUrn(providerUrn(name))
    .setNews(structOf(withoutPrefix(settings)));
  const checked = await call(methods, "checkConfig", checking, proto.CheckResponse);
  // The engine shows these, and does not start the provider.
  const failures = checked.getFailuresList().map((one) => `${one.getProperty()}: ${one.getReason()}`);
  if (failures.length > 0) throw new OperationFailed(failures.join("\n"));
  return propertiesIn(checked.getInputs());
}

/** @param isDo `pulumi do` does not check the settings */
async function configure(methods: Methods, settings: Settings, isDo: boolean, name?: string): Promise<void> {
  const args = isDo ? withoutPrefix(settings) : await checkConfig(methods, settings, name);
  const request = new proto.ConfigureRequest()
    .setArgs(structOf(args))
    .setName(isDo ? "" : (name ?? "default"));
  await call(methods, "configure", request, proto.ConfigureResponse);
}

/** Calls as the engine makes them: what was marked as secret goes in with its mark, and must come back with it. */
function nativeCalls(methods: Methods, type: string, configured: Promise<void>): Provider {
  const nativeUrn = (urn: string): string => {
    const [scheme, project, types = "", ...name] = urn.split("::");
    const parents = types.split("$").slice(0, -1);
    return [scheme, project, [...parents, type].join("$"), ...name].join("::");
  };
  /** What state has marked as secret, by URN. */
  const marked = new Map<string, Set<string>>();
  const marksOf = (urn: string): Set<string> => {
    const names = marked.get(urn) ?? new Set();
    marked.set(urn, names);
    return names;
  };
  /** Properties on their way to the provider. */
  const sent = (urn: string, properties: Properties): Struct => {
    const names = marksOf(urn);
    for (const [name, value] of Object.entries(properties)) if (isMarked(value)) names.add(name);
    return structOf(
      Object.fromEntries(
        Object.entries(properties).map(([name, value]) => [
          name,
          names.has(name) && !isMarked(value) && value !== null ? secret(value) : value,
        ]),
      ),
    );
  };
  /** Properties as the engine takes them over from an answer, which must have kept the marks. */
  const answered = (urn: string, struct: Struct | undefined, isPreview = false): Properties => {
    const names = marksOf(urn);
    for (const [name, value] of Object.entries(struct?.toJavaScript() ?? {}))
      if (isMarked(value)) names.add(name);
      else if (names.has(name) && value !== null && value !== "" && !isDeepStrictEqual(value, []))
        throw new OperationFailed(`ILL-FORMED: ${name} has lost its mark`);
    return propertiesIn(struct, isPreview);
  };
  const send = async <Response extends Message>(
    name: string,
    request: Message,
    responseType: MessageType<Response>,
  ): Promise<Response> => {
    await configured;
    return call(methods, name, request, responseType);
  };
  const check: Provider["check"] = async (urn, olds, news) => {
    const request = new proto.CheckRequest().setUrn(nativeUrn(urn));
    request.setOlds(sent(urn, olds)).setNews(sent(urn, news));
    const response = await send("check", request, proto.CheckResponse);
    const failures = response.getFailuresList().map((failure) => {
      assertText(failure.getReason());
      return `${failure.getProperty()}: ${failure.getReason()}`;
    });
    // A preview checks what is not known yet too.
    return { inputs: answered(urn, response.getInputs(), true), failures };
  };
  /** A diff and an update are asked the same. */
  const filled = <Request extends proto.DiffRequest | proto.UpdateRequest>(
    request: Request,
    ...[urn, id, outputs, inputs, news, { ignoreChanges = [] } = {}]: Parameters<Provider["update"]>
  ): Request => {
    request.setUrn(nativeUrn(urn)).setId(id).setOlds(sent(urn, outputs)).setOldInputs(sent(urn, inputs));
    request.setNews(sent(urn, news)).setIgnorechangesList([...ignoreChanges]);
    return request;
  };
  const diff: Provider["diff"] = async (...args) => {
    const response = await send("diff", filled(new proto.DiffRequest(), ...args), proto.DiffResponse);
    if (response.getChanges() === proto.DiffResponse.DiffChanges.DIFF_UNKNOWN)
      throw new Error("diff did not say whether there are changes");
    // What the engine shows must be what it is told to do.
    const named = response.getDiffsList();
    const parts = response.getDetaileddiffMap().getEntryList();
    const detailed = [...new Set(parts.map(([path]) => path.replace(/[.[].*/, "")))];
    const isChanged = response.getChanges() === proto.DiffResponse.DiffChanges.DIFF_SOME;
    // A preview shows only what has a detailed diff.
    const visible = named.filter((name) => name !== hiddenNames.isPartial);
    // If only a mark is new, nothing is named: `replaceOnChanges` would replace the record.
    const [, , , inputs, news] = args;
    const isOfMark = named.length === 0 && isDeepStrictEqual(revealed(inputs), revealed(news));
    if ((isChanged !== named.length > 0 && !isOfMark) || detailed.sort().join() !== visible.sort().join())
      throw new Error(`diff contradicts itself: ${JSON.stringify(response.toObject())}`);
    return {
      parts: parts.map(([path]) => path),
      changes: isChanged,
      replaces: response.getReplacesList().length > 0,
      deleteBeforeReplace: response.getDeletebeforereplace(),
    };
  };
  const create = (urn: string, inputs: Properties, isPreview: boolean): Promise<proto.CreateResponse> => {
    const request = new proto.CreateRequest().setUrn(nativeUrn(urn)).setProperties(sent(urn, inputs));
    return send("create", request.setPreview(isPreview), proto.CreateResponse);
  };
  const update = (
    isPreview: boolean,
    ...args: Parameters<Provider["update"]>
  ): Promise<proto.UpdateResponse> =>
    send("update", filled(new proto.UpdateRequest(), ...args).setPreview(isPreview), proto.UpdateResponse);

  /** As since Pulumi 3.274, which leaves empty inputs out, and sends an empty state for a resource that is in none. */
  const readRequest = (
    urn: string,
    id: string,
    outputs: Properties,
    inputs: Properties,
  ): proto.ReadRequest => {
    const request = new proto.ReadRequest().setUrn(nativeUrn(urn)).setId(id);
    request.setProperties(sent(urn, outputs));
    return isDeepStrictEqual(inputs, {}) ? request : request.setInputs(sent(urn, inputs));
  };

  return {
    check,
    diff,
    import: async (urn, id, news, isOlderEngine = false) => {
      const request = readRequest(urn, id, {}, {});
      if (isOlderEngine) request.clearProperties();
      const response = await send("read", request, proto.ReadResponse);
      if (response.getId() === "") throw new OperationFailed(`resource '${id}' does not exist`);
      const inputs = answered(urn, response.getInputs());
      const outputs = answered(urn, response.getProperties());
      if (!news) return { id: response.getId(), inputs, outputs };
      const checked = await check(urn, inputs, news);
      if (checked.failures.length > 0) throw new OperationFailed(checked.failures.join("\n"));
      if ((await diff(urn, response.getId(), outputs, inputs, checked.inputs)).changes)
        throw new OperationFailed("inputs to import do not match the existing resource");
      return { id: response.getId(), inputs: checked.inputs, outputs };
    },
    previewOutputs: async (urn, old, news) => {
      const response = old
        ? await update(true, urn, old.id, old.outputs, old.inputs, news)
        : await create(urn, news, true);
      return answered(urn, response.getProperties(), true);
    },
    create: async (urn, inputs) => {
      const response = await create(urn, inputs, false);
      if (response.getId() === "") throw new Error("provider did not return an ID from Create");
      return { id: response.getId(), outputs: answered(urn, response.getProperties()) };
    },
    read: async (urn, id, outputs, inputs, { timeout = 0 } = {}) => {
      const request = readRequest(urn, id, outputs, inputs).setTimeout(timeout);
      const response = await send("read", request, proto.ReadResponse);
      if (response.getId() === "") return undefined;
      // State has lost the marks of former processes here, so the inputs come back as they were sent.
      const readInputs = answered(urn, response.getInputs());
      return { id: response.getId(), outputs: answered(urn, response.getProperties()), inputs: readInputs };
    },
    update: async (...args) => {
      const [urn] = args;
      const response = await update(false, ...args);
      return { outputs: answered(urn, response.getProperties()) };
    },
    delete: async (urn, id, outputs, inputs) => {
      const request = new proto.DeleteRequest().setUrn(nativeUrn(urn)).setId(id);
      request.setProperties(sent(urn, outputs)).setOldInputs(sent(urn, inputs));
      await send("delete", request, Empty);
    },
  };
}

/** Properties on their way to the provider. What another front has kept beside them is not among them. */
function structOf({ __provider: _, ...properties }: Properties): Struct {
  return Struct.fromJavaScript(wire(properties) as Record<string, JavaScriptValue>);
}

/** Properties as the engine takes them over from an answer. */
function propertiesIn(struct: Struct | undefined, isPreview = false): Properties {
  const properties = revealed(wire((struct?.toJavaScript() ?? {}) as Properties));
  assertUnmarked(properties, isPreview, "");
  return properties;
}

/** The engine would take these for marks of its own. */
function assertUnmarked(value: unknown, isPreview: boolean, path: string): void {
  if (engineUnknowns.includes(value) && !isPreview)
    throw new OperationFailed(`ILL-FORMED unknown value at ${path}`);
  if (typeof value !== "object" || value === null) return;
  for (const [key, entry] of Object.entries(value)) {
    if (key === sigKey) throw new OperationFailed(`ILL-FORMED mark at ${path}`);
    assertUnmarked(entry, isPreview, `${path}.${key}`);
  }
}

/** What the engine reads in an error: the call failed, or the resource is kept. */
function failureIn(error: Partial<ServiceError>): OperationFailed {
  const message = error.details ?? "";
  if (!isWellFormed(message)) return new OperationFailed(`ILL-FORMED: ${JSON.stringify(message)}`);
  const [bytes] = error.metadata?.get("grpc-status-details-bin") ?? [];
  if (bytes === undefined) return new OperationFailed(message);
  const [detail] = Status.deserializeBinary(Buffer.from(bytes)).getDetailsList();
  const failure = proto.ErrorResourceInitFailed.deserializeBinary(
    detail?.getValue_asU8() ?? new Uint8Array(),
  );
  const reasons = failure.getReasonsList();
  return new OperationFailed(message, failure.getId(), propertiesIn(failure.getProperties()), reasons);
}
