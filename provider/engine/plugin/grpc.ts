import { Metadata, status } from "@grpc/grpc-js";
import type {
  handleServerStreamingCall,
  handleUnaryCall,
  ServiceError,
  UntypedServiceImplementation,
} from "@grpc/grpc-js";
import { PluginInfo, type PluginAttach } from "@pulumi/pulumi/proto/plugin_pb";
import * as proto from "@pulumi/pulumi/proto/provider_pb";
import { Status } from "@pulumi/pulumi/proto/status_pb";
import { Any } from "google-protobuf/google/protobuf/any_pb";
import { Empty } from "google-protobuf/google/protobuf/empty_pb";

import { asSecret, isEngineUnknown, type Properties } from "../../common/marks";
import { hiddenNames } from "../../common/pulumi";
import type { EngineLog } from "../engine-log";
import { OperationError } from "../operation-error";
import { secretInputNames } from "../properties";
import type { ResourceRequest } from "./resource-request";
import type { PluginResources } from "./resources";
import type { PluginRun } from "./run";
import { fromMarkedStruct, fromStruct, isBlank, toStruct } from "./struct";

/** What is loaded later, so that the engine need not wait for it when it starts the plugin. */
interface Lazy {
  newRun(): PluginRun;
  schema(): string;
}

const { PropertyDiff } = proto;
const { DiffChanges } = proto.DiffResponse;
/** What the protocol calls the change of a property: in an update, and in a replacement. */
const protocolActions = {
  add: [PropertyDiff.Kind.ADD, PropertyDiff.Kind.ADD_REPLACE],
  update: [PropertyDiff.Kind.UPDATE, PropertyDiff.Kind.UPDATE_REPLACE],
  delete: [PropertyDiff.Kind.DELETE, PropertyDiff.Kind.DELETE_REPLACE],
} as const;

type ResourceMethod = "check" | "diff" | "create" | "read" | "update" | "delete";

/** The parts of the requests about a resource; each method's request has some of them. */
type ResourceMessage = Pick<proto.UpdateRequest, "getUrn"> &
  Partial<
    Pick<proto.UpdateRequest, "getId" | "getOldInputs" | "getIgnorechangesList" | "getTimeout" | "getPreview">
  >;

/** The runs of the engines that this process serves: an attached plugin serves several, also of one engine. */
class Runs {
  private latest: { readonly engine: string | undefined; readonly run: PluginRun } | undefined;

  constructor(
    private readonly engine: EngineLog,
    private readonly newRun: () => PluginRun,
  ) {}

  current(): PluginRun {
    const { address } = this.engine;
    if (!this.latest || this.latest.engine !== address) {
      // If the engine before was killed, it has not sent Cancel.
      this.latest?.run.session.interrupt();
      this.latest = { engine: address, run: this.newRun() };
    }
    return this.latest.run;
  }

  /** Cancel also comes between the preview and the update of one `up`. A Configure after it begins a new run. */
  endInterrupted(): void {
    if (this.latest?.run.session.interruption.aborted) this.latest = undefined;
  }

  /** Runs a request about a resource; `parts` are those whose names differ between the methods. */
  run<Name extends ResourceMethod>(
    method: Name,
    message: ResourceMessage,
    parts: Partial<Pick<ResourceRequest, "oldInputs" | "oldOutputs" | "inputs" | "isImport" | "mayBeGet">>,
  ): ReturnType<PluginResources[Name]> {
    const request: ResourceRequest = {
      urn: message.getUrn(),
      id: message.getId?.() ?? "",
      oldInputs: fromMarkedStruct(message.getOldInputs?.()),
      oldOutputs: {},
      inputs: {},
      ignoreChanges: message.getIgnorechangesList?.() ?? [],
      timeout: timeoutOf(message.getTimeout?.() ?? 0),
      isPreview: message.getPreview?.() ?? false,
      isImport: false,
      ...parts,
    };
    const response = this.current().run<unknown>(request, (resources, plain) => resources[method](plain));
    return response as ReturnType<PluginResources[Name]>;
  }
}

/** The methods of Pulumi's provider protocol, by their names in it. */
export function methodsOf(engine: EngineLog, version: string, lazy: Lazy): UntypedServiceImplementation {
  const runs = new Runs(engine, () => lazy.newRun());
  return {
    // The engine then sends secrets with their marks, and each response that state keeps must have them again: see `markSecrets`.
    handshake: unary((request: proto.ProviderHandshakeRequest) => {
      engine.attach(request.getEngineAddress());
      return new proto.ProviderHandshakeResponse().setAcceptSecrets(true);
    }),
    attach: unary((request: PluginAttach) => {
      engine.attach(request.getAddress());
      return new Empty();
    }),
    getPluginInfo: unary(() => new PluginInfo().setVersion(version)),
    getSchema: unary(() => new proto.GetSchemaResponse().setSchema(lazy.schema())),

    ...settingsMethods(runs),
    ...resourceMethods(runs),
    ...queryMethods(runs),

    cancel: unary(async () => {
      await runs.current().cancel();
      return new Empty();
    }),
  };
}

function settingsMethods(runs: Runs): UntypedServiceImplementation {
  return {
    checkConfig: unary((request: proto.CheckRequest) => {
      const { settings, problems } = runs
        .current()
        .checkSettings(request.getUrn(), fromStruct(request.getNews()));
      return checkResponse(settings, problems);
    }),
    diffConfig: unary((request: proto.DiffRequest) => {
      const [old, current] = [fromStruct(request.getOldInputs()), fromStruct(request.getNews())];
      const { changed, replaces } = runs.current().diffSettings(old, current);
      const response = new proto.DiffResponse().setChanges(changesOf(changed)).setDiffsList(changed);
      return replaces ? response.setReplacesList(changed) : response;
    }),
    configure: unary((request: proto.ConfigureRequest) => {
      runs.endInterrupted();
      runs.current().configure(fromStruct(request.getArgs()), request.getName());
      return new proto.ConfigureResponse().setSupportspreview(true).setAcceptsecrets(true);
    }),
  };
}

function resourceMethods(runs: Runs): UntypedServiceImplementation {
  return {
    check: unary(async (message: proto.CheckRequest) => {
      const { inputs, problems } = await runs.run("check", message, {
        oldInputs: fromMarkedStruct(message.getOlds()),
        inputs: fromMarkedStruct(message.getNews()),
      });
      return checkResponse(inputs, problems);
    }),
    diff: unary(async (message: proto.DiffRequest) => {
      const { changes, deleteBeforeReplace } = await runs.run("diff", message, partsOfChange(message));
      const response = new proto.DiffResponse()
        .setChanges(changesOf(changes))
        .setDiffsList(changes.flatMap(({ key }) => key ?? []))
        .setReplacesList(changes.flatMap(({ key, replaces }) => (replaces ? (key ?? []) : [])))
        .setDeletebeforereplace(deleteBeforeReplace)
        .setHasdetaileddiff(true);
      for (const { parts, replaces, isOfInputs } of changes)
        for (const [path, action] of parts) {
          const kind = protocolActions[action][replaces ? 1 : 0];
          response.getDetaileddiffMap().set(path, new PropertyDiff().setKind(kind).setInputdiff(isOfInputs));
        }
      return response;
    }),
    create: unary(async (message: proto.CreateRequest) => {
      const parts = { inputs: fromMarkedStruct(message.getProperties()) };
      const { id, outputs } = await runs.run("create", message, parts);
      return new proto.CreateResponse().setId(id).setProperties(toStruct(outputs));
    }),
    read: unary(async (message: proto.ReadRequest) => {
      const [inputs, outputs] = [message.getInputs(), message.getProperties()];
      const read = await runs.run("read", message, {
        oldInputs: fromMarkedStruct(inputs),
        oldOutputs: fromMarkedStruct(outputs),
        isImport: !inputs && (!outputs || isBlank(outputs)),
        mayBeGet: outputs !== undefined,
      });
      // Without an id, the engine removes the resource from state.
      if (!read) return new proto.ReadResponse();
      const response = new proto.ReadResponse().setId(read.id).setProperties(toStruct(read.outputs));
      return response.setInputs(read.inputs ? toStruct(read.inputs) : inputs);
    }),
    update: unary(async (message: proto.UpdateRequest) => {
      const { outputs } = await runs.run("update", message, partsOfChange(message));
      return new proto.UpdateResponse().setProperties(toStruct(outputs));
    }),
    delete: unary(async (message: proto.DeleteRequest) => {
      const parts = { oldOutputs: fromMarkedStruct(message.getProperties()) };
      await runs.run("delete", message, parts);
      return new Empty();
    }),
  };
}

function queryMethods(runs: Runs): UntypedServiceImplementation {
  return {
    invoke: unary(async (message: proto.InvokeRequest) => {
      const given = fromMarkedStruct(message.getArgs());
      const { [hiddenNames.options]: _, ...args } = given;
      const secrets = secretInputNames(given);
      const result = await runs.current().invoke(message.getTok(), args, secrets);
      // What was found by a secret may repeat it.
      const marked =
        secrets.length > 0
          ? Object.fromEntries(Object.entries(result).map(([name, value]) => [name, asSecret(value)]))
          : result;
      return new proto.InvokeResponse().setReturn(toStruct(marked));
    }),
    list: streaming(async (message: proto.ListRequest, write: (response: proto.ListResponse) => void) => {
      const query = fromStruct(message.getQuery());
      // What a query with a value that is not known yet selects is not known either.
      if (Object.values(query).some(isEngineUnknown)) {
        write(new proto.ListResponse().setComputed(new proto.ListResponse.Computed()));
        return;
      }
      const request = {
        token: message.getToken(),
        query,
        limit: message.getLimit() > 0 ? message.getLimit() : undefined,
        pageSize: message.getPageSize() > 0 ? message.getPageSize() : undefined,
        continuation: message.getContinuationToken() || undefined,
      };
      const next = await runs.current().list(request, ({ id, name = "" }) => {
        write(new proto.ListResponse().setResult(new proto.ListResponse.Result().setId(id).setName(name)));
      });
      if (next === undefined) return;
      const continuation = new proto.ListResponse.Continuation().setContinuationToken(next);
      write(new proto.ListResponse().setContinuation(continuation));
    }),
  };
}

function unary<Request, Response>(
  respond: (request: Request) => Response | Promise<Response>,
): handleUnaryCall<Request, Response> {
  return (call, callback) => {
    void (async () => {
      try {
        callback(null, await respond(call.request));
      } catch (error) {
        callback(failureOf(error));
      }
    })();
  };
}

function streaming<Request, Response>(
  respond: (request: Request, write: (part: Response) => void) => Promise<void>,
): handleServerStreamingCall<Request, Response> {
  return (call) => {
    void (async () => {
      try {
        await respond(call.request, (part) => call.write(part));
        call.end();
      } catch (error) {
        call.emit("error", failureOf(error));
      }
    })();
  };
}

/**
 * The response to a check. If a failure named its property, the engine would print the property's value, which may be a secret: that
 * of a field, or a key in the place of another setting.
 */
function checkResponse(inputs: Properties, problems: readonly string[]): proto.CheckResponse {
  const failures = problems.map((reason) => new proto.CheckFailure().setReason(reason));
  return new proto.CheckResponse().setInputs(toStruct(inputs)).setFailuresList(failures);
}

function changesOf(changed: readonly unknown[]): proto.DiffResponse.DiffChanges {
  return changed.length > 0 ? DiffChanges.DIFF_SOME : DiffChanges.DIFF_NONE;
}

function partsOfChange(message: proto.DiffRequest | proto.UpdateRequest) {
  return { oldOutputs: fromMarkedStruct(message.getOlds()), inputs: fromMarkedStruct(message.getNews()) };
}

/** An error in the protocol's form. If the record exists, its state is included, so that the resource stays in state. */
function failureOf(error: unknown): Partial<ServiceError> {
  const message = error instanceof Error ? error.message : String(error);
  const failure = { code: status.UNKNOWN, details: message, message };
  const kept = error instanceof OperationError ? error.kept : undefined;
  if (!kept) return failure;
  const detail = new proto.ErrorResourceInitFailed()
    .setId(kept.id)
    .setProperties(toStruct(kept.outputs))
    .setReasonsList([message]);
  const packed = new Any();
  packed.pack(detail.serializeBinary(), "pulumirpc.ErrorResourceInitFailed");
  const full = new Status().setCode(status.UNKNOWN).setMessage(message).setDetailsList([packed]);
  const metadata = new Metadata();
  metadata.set("grpc-status-details-bin", Buffer.from(full.serializeBinary()));
  return { ...failure, metadata };
}

/** Milliseconds; the engine sends seconds, and 0 if no timeout is set. */
function timeoutOf(seconds: number): number | undefined {
  return seconds > 0 ? Math.ceil(seconds * 1000) : undefined;
}
