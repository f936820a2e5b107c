import { status } from "@grpc/grpc-js";
import type { handleUnaryCall, ServiceError, UntypedServiceImplementation } from "@grpc/grpc-js";
import { Metadata } from "@grpc/grpc-js";
import { PluginInfo } from "@pulumi/pulumi/proto/plugin_pb";
import type { PluginAttach } from "@pulumi/pulumi/proto/plugin_pb";
import * as proto from "@pulumi/pulumi/proto/provider_pb";
import { Status } from "@pulumi/pulumi/proto/status_pb";
import { Any } from "google-protobuf/google/protobuf/any_pb";
import { Empty } from "google-protobuf/google/protobuf/empty_pb";

import type { Engine } from "./engine";
import type { Failure, Session } from "./session";
import { decode, encode } from "./values";

/** What is loaded when it is first needed, so that the engine need not wait for it at the start. */
export interface Lazy {
  session(): Session;
  /** The plugin's schema, as JSON. */
  schema(): string;
}

const { PropertyDiff } = proto;
const kinds = {
  add: [PropertyDiff.Kind.ADD, PropertyDiff.Kind.ADD_REPLACE],
  update: [PropertyDiff.Kind.UPDATE, PropertyDiff.Kind.UPDATE_REPLACE],
  delete: [PropertyDiff.Kind.DELETE, PropertyDiff.Kind.DELETE_REPLACE],
} as const;

/** The methods of Pulumi's provider protocol, by their names in it. */
export function methodsOf(engine: Engine, version: string, lazy: Lazy): UntypedServiceImplementation {
  return {
    // Secrets come as plain values because the answer does not say `acceptSecrets`.
    handshake: unary((request: proto.ProviderHandshakeRequest) => {
      engine.attach(request.getEngineAddress());
      return new proto.ProviderHandshakeResponse();
    }),
    attach: unary((request: PluginAttach) => {
      engine.attach(request.getAddress());
      return new Empty();
    }),
    getPluginInfo: unary(() => new PluginInfo().setVersion(version)),
    getSchema: unary((request: proto.GetSchemaRequest) => {
      if (request.getVersion() !== 0)
        throw new Error(`pulumi-resource-uptime knows version 0 of schemas, not ${request.getVersion()}.`);
      return new proto.GetSchemaResponse().setSchema(lazy.schema());
    }),

    checkConfig: unary((request: proto.CheckRequest) => {
      const { settings, problems } = lazy.session().checkSettings(decode(request.getNews()));
      return new proto.CheckResponse().setInputs(encode(settings)).setFailuresList(failures(problems));
    }),
    diffConfig: unary((request: proto.DiffRequest) => {
      const changed = lazy.session().diffSettings(decode(request.getOldInputs()), decode(request.getNews()));
      const { DIFF_SOME, DIFF_NONE } = proto.DiffResponse.DiffChanges;
      return new proto.DiffResponse()
        .setChanges(changed.length > 0 ? DIFF_SOME : DIFF_NONE)
        .setDiffsList(changed);
    }),
    configure: unary((request: proto.ConfigureRequest) => {
      lazy.session().configure(decode(request.getArgs()));
      return new proto.ConfigureResponse().setSupportspreview(true);
    }),

    check: unary(async (request: proto.CheckRequest) => {
      const { inputs, problems } = await lazy.session().check({
        urn: request.getUrn(),
        oldInputs: decode(request.getOlds()),
        inputs: decode(request.getNews()),
      });
      return new proto.CheckResponse().setInputs(encode(inputs)).setFailuresList(failures(problems));
    }),
    diff: unary(async (request: proto.DiffRequest) => {
      const { changes, deleteBeforeReplace } = await lazy.session().diff({
        urn: request.getUrn(),
        id: request.getId(),
        oldInputs: decode(request.getOldInputs()),
        oldOutputs: decode(request.getOlds()),
        inputs: decode(request.getNews()),
        ignoreChanges: request.getIgnorechangesList(),
      });
      const { DIFF_SOME, DIFF_NONE } = proto.DiffResponse.DiffChanges;
      const response = new proto.DiffResponse()
        .setChanges(changes.size > 0 ? DIFF_SOME : DIFF_NONE)
        .setDiffsList([...changes.keys()])
        .setReplacesList([...changes].filter(([, { replaces }]) => replaces).map(([key]) => key))
        .setDeletebeforereplace(deleteBeforeReplace)
        .setHasdetaileddiff(true);
      for (const [key, { kind, replaces, inInputs }] of changes)
        response
          .getDetaileddiffMap()
          .set(key, new PropertyDiff().setKind(kinds[kind][replaces ? 1 : 0]).setInputdiff(inInputs));
      return response;
    }),
    create: unary(async (request: proto.CreateRequest) => {
      const { id, outputs } = await lazy.session().create({
        urn: request.getUrn(),
        inputs: decode(request.getProperties()),
        isPreview: request.getPreview(),
        timeout: milliseconds(request.getTimeout()),
      });
      return new proto.CreateResponse().setId(id).setProperties(encode(outputs));
    }),
    read: unary(async (request: proto.ReadRequest) => {
      const [inputs, outputs] = [request.getInputs(), request.getProperties()];
      const read = await lazy.session().read({
        urn: request.getUrn(),
        id: request.getId(),
        inputs: inputs && decode(inputs),
        outputs: outputs && decode(outputs),
      });
      // Without an id, the engine takes the resource out of state.
      if (!read) return new proto.ReadResponse();
      const response = new proto.ReadResponse().setId(read.id).setProperties(encode(read.outputs));
      return response.setInputs(read.inputs ? encode(read.inputs) : inputs);
    }),
    update: unary(async (request: proto.UpdateRequest) => {
      const { outputs } = await lazy.session().update({
        urn: request.getUrn(),
        id: request.getId(),
        oldInputs: decode(request.getOldInputs()),
        oldOutputs: decode(request.getOlds()),
        inputs: decode(request.getNews()),
        ignoreChanges: request.getIgnorechangesList(),
        isPreview: request.getPreview(),
        timeout: milliseconds(request.getTimeout()),
      });
      return new proto.UpdateResponse().setProperties(encode(outputs));
    }),
    delete: unary(async (request: proto.DeleteRequest) => {
      await lazy.session().delete({
        urn: request.getUrn(),
        id: request.getId(),
        oldInputs: decode(request.getOldInputs()),
        oldOutputs: decode(request.getProperties()),
        timeout: milliseconds(request.getTimeout()),
      });
      return new Empty();
    }),
    invoke: unary(async (request: proto.InvokeRequest) => {
      const result = await lazy.session().invoke(request.getTok(), decode(request.getArgs()));
      return new proto.InvokeResponse().setReturn(encode(result));
    }),

    cancel: unary(async () => {
      await lazy.session().cancel();
      return new Empty();
    }),
  };
}

function unary<Request, Response>(
  answer: (request: Request) => Response | Promise<Response>,
): handleUnaryCall<Request, Response> {
  return (call, callback) => {
    void (async () => {
      try {
        callback(null, await answer(call.request));
      } catch (error) {
        callback(failureOf(error));
      }
    })();
  };
}

/** A property's name would make the engine print the value beside it: a password, or one under a mistyped name. */
function failures(problems: readonly string[]): proto.CheckFailure[] {
  return problems.map((problem) => new proto.CheckFailure().setProperty("").setReason(problem));
}

/** An error as the engine reads it; one of a record that exists keeps the resource in state. */
function failureOf(error: unknown): Partial<ServiceError> {
  const message = error instanceof Error ? error.message : String(error);
  const failure = { code: status.UNKNOWN, details: message, message };
  const kept = error instanceof Error ? (error as Failure).resource : undefined;
  if (!kept) return failure;
  const detail = new proto.ErrorResourceInitFailed()
    .setId(kept.id)
    .setProperties(encode(kept.outputs))
    .setInputs(encode(kept.inputs))
    .setReasonsList([message]);
  const packed = new Any();
  packed.pack(detail.serializeBinary(), "pulumirpc.ErrorResourceInitFailed");
  const metadata = new Metadata();
  const full = new Status().setCode(status.UNKNOWN).setMessage(message).setDetailsList([packed]);
  metadata.set("grpc-status-details-bin", Buffer.from(full.serializeBinary()));
  return { ...failure, metadata };
}

/** The engine gives seconds, and 0 where a person has set no time. */
function milliseconds(seconds: number): number | undefined {
  return seconds > 0 ? Math.ceil(seconds * 1000) : undefined;
}
